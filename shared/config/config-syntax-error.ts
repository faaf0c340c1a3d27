/** Position of an error; both count from 1, columns in characters. */
interface TextPosition {
  line: number;
  column: number;
}

/** The configuration file is not valid. The message is for its author: position and error, never the whole text. */
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

/** The position of an offset (UTF-16 units) in a text. */
export function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: [...before.slice(lineStart)].length + 1 };
}

/** A key or other piece of the file as it can stand in a message. */
export function quoted(piece: string): string {
  return JSON.stringify(piece.length > 60 ? `${piece.slice(0, 60)}…` : piece);
}
