/** A line of a log as the service answers it. */
export interface LogLine {
  time: string;
  stream: 'stdout' | 'stderr' | 'service';
  message: string;
}

export type Level = 'error' | 'warning' | 'debug' | 'service' | 'plain';

/** Most characters that a page keeps of a log; older lines make room. The whole of it can be downloaded. */
const charactersMost = 60_000_000;
const linesMost = 400_000;
/** Levels are looked for at the beginning of a line. */
const headMost = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours begin with an escape
const terminalCodes = /\u001b\[[0-9;?]*[A-Za-z]/g;
const errors = /\b(?:ERROR|CRITICAL|FATAL|Traceback|[A-Z]\w*(?:Error|Exception))\b/;
const warnings = /\bWARN(?:ING)?\b|\w+Warning\b/;
const debugs = /\bDEBUG\b|\bTRACE\b/;

export const plainText = (message: string): string =>
  message.includes('\u001b') ? message.replace(terminalCodes, '') : message;

export function levelOf({ stream, message }: LogLine): Level {
  if (stream === 'service') return 'service';
  const head = plainText(message.slice(0, headMost));
  if (errors.test(head)) return 'error';
  if (warnings.test(head)) return 'warning';
  return debugs.test(head) ? 'debug' : 'plain';
}

/** The lines of a log that a page keeps. */
export class LogBuffer {
  lines: LogLine[] = [];
  /** Lines that made room for newer ones. */
  dropped = 0;
  #characters = 0;

  add(rows: readonly LogLine[]): void {
    for (const row of rows) {
      this.lines.push(row);
      this.#characters += row.message.length;
    }
    let gone = 0;
    while (this.lines.length - gone > linesMost || this.#characters > charactersMost) {
      const oldest = this.lines[gone];
      // The newest line stays, however long it is.
      if (oldest === undefined || gone === this.lines.length - 1) break;
      this.#characters -= oldest.message.length;
      gone += 1;
    }
    if (gone === 0) return;
    this.lines = this.lines.slice(gone);
    this.dropped += gone;
  }
}
