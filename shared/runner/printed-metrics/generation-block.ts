import type { FoundLine } from './printed-metrics.ts';
import { numberPattern, printedNumber } from './printed-number.ts';

const heading = /^-- Generation (\d{1,9}) --$/;
const row = new RegExp(`^ {2,4}(Min|Max|Avg|Std) (${numberPattern}|nan|inf)$`);

/** Lines that may follow a heading, such as `  Evaluated 185 individuals`. */
const maxLines = 10;

/**
 * Recognizes what loops print that follow DEAP's introduction: `  Min 44.0`, `  Max 66.0`, `  Avg 54.8` and `  Std 4.3` below
 * `-- Generation 3 --`. Elsewhere such lines are no metrics. A line that is not indented ends the block.
 */
export class GenerationBlock {
  #generation: number | undefined;
  #left = 0;

  get isOpen(): boolean {
    return this.#left > 0;
  }

  /**
   * Return undefined for a line that is none of a block.
   * @param before the line before, and `earlier` the one before that: one of them is the heading of a block that begins
   */
  read(text: string, before: string, earlier: string): FoundLine | undefined {
    const above = heading.exec(before) ?? (before.startsWith('  ') ? heading.exec(earlier) : null);
    if (above !== null) {
      this.#generation = Number(above[1]);
      this.#left = maxLines;
    }
    if (!this.isOpen || this.#generation === undefined) return undefined;
    this.#left = text.startsWith('  ') ? this.#left - 1 : 0;
    const [, name = '', digits = ''] = (this.isOpen && row.exec(text)) || [];
    const value = printedNumber(digits);
    return value === undefined
      ? undefined
      : { step: this.#generation, values: [[name.toLowerCase(), value]] };
  }
}
