import { drawable } from '../../drawing/drawn-text.ts';
import { bytesText } from '../receipt/amount-text.ts';

/** An output stream. */
interface Terminal {
  write(text: string): unknown;
  isTTY?: boolean;
}

/**
 * Show the progress of a stage. On a terminal this is one line that changes, elsewhere one line for each stage.
 */
export class ProgressLine {
  readonly #to: Terminal;
  #shown = '';

  constructor(to: Terminal) {
    this.#to = to;
  }

  show(stage: string, fraction: number, bytes?: number): void {
    const of = bytes === undefined ? '' : ` (${bytesText(fraction * bytes)} of ${bytesText(bytes)})`;
    const text = this.#to.isTTY ? `${stage} ${Math.round(fraction * 100)} %${of}` : `${stage}${ellipsis}`;
    if (text === this.#shown) return;
    this.#shown = text;
    this.#to.write(this.#to.isTTY ? `\r\x1b[2K${text}` : `${text}\n`);
  }

  /** Write a line that stays. */
  say(line: string): void {
    this.clear();
    this.#to.write(`${drawable(line)}\n`);
  }

  clear(): void {
    if (this.#to.isTTY && this.#shown !== '') this.#to.write('\r\x1b[2K');
    this.#shown = '';
  }
}

const ellipsis = ' …';

/** Whether a line that was written to no terminal is one of progress. */
export const isProgress = (line: string): boolean => line.endsWith(ellipsis);
