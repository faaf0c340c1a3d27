/** Position of an error. Line and column count from 1, columns in characters. */
interface TextPosition {
  line: number;
  column: number;
}

/**
 * Error of an invalid configuration file. Its message tells the author the position and the error, but never the
 * whole text.
 */
export class ConfigSyntaxError extends Error {
  override readonly name = 'ConfigSyntaxError';
  readonly fault: string;
  readonly position: TextPosition | undefined;

  constructor(fault: string, position?: TextPosition, cause?: unknown) {
    const short = oneLine(fault);
    super(position === undefined ? short : `line ${position.line}, column ${position.column}: ${short}`, {
      cause,
    });
    this.fault = short;
    this.position = position;
  }
}

const shownLength = 200;

function oneLine(message: string): string {
  const line = message
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line.length > shownLength ? `${line.slice(0, shownLength).toWellFormed()}…` : line;
}

/** Convert an offset in UTF-16 units to a position. */
export function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: [...before.slice(lineStart)].length + 1 };
}

/** Quote a key or another piece of the file for a message. Cut it after 60 characters. */
export function quoted(piece: string): string {
  return JSON.stringify(piece.length > 60 ? `${piece.slice(0, 60)}…` : piece);
}
