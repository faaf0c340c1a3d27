import { styleText } from 'node:util';
import { printableText } from '../../shared/core/text/printable-text.ts';

/** Print data to stdout and messages to stderr. Remove control characters from untrusted text. */
export class Printer {
  readonly isTerminal: boolean;
  /** Whether a printed message line can change in place. */
  readonly isLive: boolean;
  readonly #hasColor: boolean;
  readonly #stdout: Screen;
  readonly #stderr: Screen;

  constructor({ stdout, stderr, env }: Screens) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.isTerminal = stdout.isTTY === true;
    this.isLive = stderr.isTTY === true && env['TERM'] !== 'dumb';
    this.#hasColor = this.isLive && !env['NO_COLOR'];
  }

  /** Columns of the terminal for messages. Some terminals report none or 0. */
  get columns(): number {
    return this.#stderr.columns || 80;
  }

  /** Print text to stderr unchanged, including control sequences. */
  raw(text: string): void {
    this.#stderr.write(text);
  }

  /** Print a message line. */
  say(text: string): void {
    this.#stderr.write(`${printableText(text)}\n`);
  }

  /** Print a data line. */
  line(text: string): void {
    this.#stdout.write(`${printableText(text)}\n`);
  }

  json(value: unknown): void {
    this.#stdout.write(`${JSON.stringify(value, undefined, this.isTerminal ? 2 : undefined)}\n`);
  }

  style(style: Style, text: string): string {
    return this.#hasColor ? styleText(style, text, { validateStream: false }) : text;
  }

  /** Print names and values, one pair a line. Skip names without a value. */
  facts(facts: readonly (readonly [name: string, value: string | null])[]): void {
    const width = Math.max(...facts.map(([name]) => name.length));
    for (const [name, value] of facts) {
      if (value === null) continue;
      // Indent further lines of a value below its first line.
      const text = value.replaceAll('\n', `\n${' '.repeat(width + 2)}`);
      this.line(`${name.padEnd(width)}  ${text}`);
    }
  }

  /** Print rows as JSON, one a line, as they come; else as a table. */
  async list<T>(
    rows: AsyncIterable<T> | readonly T[],
    isJson: boolean | undefined,
    headings: Row,
    cells: (row: T) => Row,
  ): Promise<void> {
    const table: Row[] = [];
    for await (const row of rows) {
      if (isJson) this.#stdout.write(`${JSON.stringify(row)}\n`);
      else table.push(cells(row));
    }
    if (!isJson) this.table(headings, table);
  }

  /**
   * Print a table: columns on a terminal, cut to its width; tab-separated values in a pipe.
   * @param narrow the table for a terminal that is too narrow for the whole one
   */
  table(headings: Row, rows: readonly Row[], narrow?: { headings: Row; rows: readonly Row[] }): void {
    const cells = rows.map((row) => row.map((cell) => printableText(cell).replaceAll(/[\t\n]/g, ' ')));
    if (!this.isTerminal) {
      for (const row of cells) this.line(row.join('\t'));
      return;
    }
    const widths = headings.map((heading, at) =>
      Math.max(heading.length, ...cells.map((row) => row[at]?.length ?? 0)),
    );
    // Some terminals report no width, or 0.
    const columns = this.#stdout.columns || 80;
    const width = widths.reduce((sum, one) => sum + one, 2 * (widths.length - 1));
    if (narrow !== undefined && width > columns) {
      this.table(narrow.headings, narrow.rows);
      return;
    }
    for (const row of [headings, ...cells]) {
      const text = row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
      this.line(text.trimEnd().slice(0, columns));
    }
  }
}

type Row = readonly string[];

/** Output stream. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

interface Screens {
  stdout: Screen;
  stderr: Screen;
  env: Variables;
}

type Variables = Readonly<Record<string, string | undefined>>;

type Style = Parameters<typeof styleText>[0];
