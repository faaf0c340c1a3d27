import { relative } from 'node:path';
import type { WriteStream } from 'node:tty';

/** Prints lines for people: headings, facts in columns, and progress with its time. Uses color on a terminal. */
export class Screen {
  readonly #output: Output;
  readonly #isColoured: boolean;

  constructor(output: Output, environment: Readonly<Record<string, string | undefined>>) {
    this.#output = output;
    this.#isColoured = output.isTTY === true && (environment['NO_COLOR'] ?? '') === '';
  }

  line(text = ''): void {
    this.#output.write(`${text}\n`);
  }

  heading(text: string): void {
    this.line(`\n${this.#styled(1, text)}`);
  }

  fact(name: string, value: string): void {
    this.line(`  ${this.#styled(2, name.padEnd(15))} ${printable(value)}`);
  }

  /** Print a log line with its seconds since the start. */
  progress(seconds: number, from: string, text: string): void {
    const time = `${seconds.toFixed(1).padStart(6)} s`;
    this.line(`${this.#styled(2, `${time}  ${from.padEnd(7)} |`)} ${printable(text)}`);
  }

  /** Print a line of another program. */
  quote(text: string): void {
    this.line(`  ${printable(text)}`);
  }

  good(text: string): void {
    this.line(this.#styled(32, text));
  }

  bad(text: string): void {
    this.line(this.#styled(31, text));
  }

  #styled(code: number, text: string): string {
    return this.#isColoured ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}

type Output = Pick<WriteStream, 'write'> & { isTTY?: boolean };

/** Remove control characters: the output of a job must not control the terminal. */
const printable = (text: string): string => text.replaceAll(/(?!\t)\p{Cc}/gu, '');

const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/**
 * Draw a curve as one line of text with at most `width` characters. Each shows the mean of its part, scaled
 * between minimum and maximum.
 */
export function sparkline(values: readonly number[], width: number): string {
  const parts = Math.min(width, values.length);
  const means = Array.from({ length: parts }, (_, part) => {
    const within = values.slice(
      Math.floor((part * values.length) / parts),
      Math.floor(((part + 1) * values.length) / parts),
    );
    return within.reduce((sum, value) => sum + value, 0) / within.length;
  });
  const least = Math.min(...means);
  const range = Math.max(...means) - least || 1;
  return means.map((mean) => bars[Math.round(((mean - least) / range) * (bars.length - 1))] ?? '').join('');
}

/** Return the path relative to the current folder if it lies below it, otherwise unchanged. */
export const shortPath = (file: string): string => {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
};
