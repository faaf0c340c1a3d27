import { type Level, LogLevels, type LogLine } from './log-levels.ts';

/**
 * Maximum number of characters of a log that a page keeps. It drops older lines, but the user can download the
 * whole log.
 */
const maxCharacters = 60_000_000;
const maxLines = 400_000;

/** A line with its level, which also depends on the lines before it, and its number in the log, from 1, where that is known. */
export type KeptLine = LogLine & { level: Level; number?: number | undefined };

/** Newest lines of a log in the page's memory. */
export class LogBuffer {
  lines: KeptLine[] = [];
  /** Number of dropped older lines. */
  dropped = 0;
  #characters = 0;
  readonly #levels = new LogLevels();
  #number: number | undefined;

  /** @param isWhole whether it begins with the first line of the log */
  constructor(isWhole: boolean) {
    this.#number = isWhole ? 0 : undefined;
  }

  add(rows: readonly LogLine[]): void {
    for (const row of rows) {
      if (this.#number !== undefined) this.#number += 1;
      this.lines.push({ ...row, level: this.#levels.levelOf(row), number: this.#number });
      this.#characters += row.message.length;
    }
    let gone = 0;
    while (this.lines.length - gone > maxLines || this.#characters > maxCharacters) {
      const oldest = this.lines[gone];
      // Keep the newest line, however long.
      if (oldest === undefined || gone === this.lines.length - 1) break;
      this.#characters -= oldest.message.length;
      gone += 1;
    }
    if (gone === 0) return;
    this.lines = this.lines.slice(gone);
    this.dropped += gone;
  }
}
