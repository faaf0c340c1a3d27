import { type Level, LogLevels, type LogLine } from './log-levels.ts';

/** Most characters that a page keeps of a log; older lines make room. The whole of it can be downloaded. */
const maxCharacters = 60_000_000;
const maxLines = 400_000;

/** A line with its level, which the lines before it decide, too. */
export type KeptLine = LogLine & { level: Level };

/** The lines of a log that a page keeps. */
export class LogBuffer {
  lines: KeptLine[] = [];
  /** Lines that made room for newer ones. */
  dropped = 0;
  #characters = 0;
  readonly #levels = new LogLevels();

  add(rows: readonly LogLine[]): void {
    for (const row of rows) {
      this.lines.push({ ...row, level: this.#levels.levelOf(row) });
      this.#characters += row.message.length;
    }
    let gone = 0;
    while (this.lines.length - gone > maxLines || this.#characters > maxCharacters) {
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
