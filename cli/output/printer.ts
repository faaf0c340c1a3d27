import { styleText } from 'node:util';
import { printableText } from '../../shared/core/text/printable-text.ts';

/** Data goes to stdout, messages to stderr. Text of others comes without control characters. */
export class Printer {
  readonly isTerminal: boolean;
  /** Whether a line of messages can be changed after it was written. */
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

  /** Columns of the terminal that shows messages: some do not say how many, and others say 0. */
  get columns(): number {
    return this.#stderr.columns || 80;
  }

  /** Text among the messages as it is, control sequences included. */
  raw(text: string): void {
    this.#stderr.write(text);
  }

  /** A line for the person. */
  say(text: string): void {
    this.#stderr.write(`${printableText(text)}\n`);
  }

  /** A line of data. */
  line(text: string): void {
    this.#stdout.write(`${printableText(text)}\n`);
  }

  json(value: unknown): void {
    this.#stdout.write(`${JSON.stringify(value, undefined, this.isTerminal ? 2 : undefined)}\n`);
  }

  style(style: Style, text: string): string {
    return this.#hasColor ? styleText(style, text, { validateStream: false }) : text;
  }

  /** Names with their values, a line each; those without one are left out. */
  facts(facts: readonly (readonly [name: string, value: string | null])[]): void {
    const width = Math.max(...facts.map(([name]) => name.length));
    for (const [name, value] of facts) {
      if (value === null) continue;
      // Further lines of a value stand below its first one, not where names stand.
      const text = value.replaceAll('\n', `\n${' '.repeat(width + 2)}`);
      this.line(`${name.padEnd(width)}  ${text}`);
    }
  }

  /** Rows below their headings: columns on a terminal that is wide enough, cut where it is not; tabs in a pipe. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void {
    const cells = rows.map((row) => row.map((cell) => printableText(cell).replaceAll(/[\t\n]/g, ' ')));
    if (!this.isTerminal) {
      for (const row of cells) this.line(row.join('\t'));
      return;
    }
    const widths = headings.map((heading, at) =>
      Math.max(heading.length, ...cells.map((row) => row[at]?.length ?? 0)),
    );
    // Some terminals do not say how wide they are, and others say 0.
    const columns = this.#stdout.columns || 80;
    for (const row of [headings, ...cells]) {
      const text = row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
      this.line(text.trimEnd().slice(0, columns));
    }
  }
}

/** A stream for people or programs. */
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
