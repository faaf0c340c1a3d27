import { finitePart, type ValueSummary } from './summarize-values.ts';

/** The bits of -0 as a signed integer. */
const negativeZero = -(2 ** 31);

/**
 * Histogram of values in bins of equal width on both sides of zero. The width doubles when a larger value comes.
 * The memory is fixed.
 */
export class ValueHistogram {
  readonly #bins: number;
  /** Counts by magnitude: positive values in the first half, negative values in the second. */
  readonly #counts: Float64Array;
  /** Width of a bin, a power of two; 0 before the first value other than 0. */
  #width = 0;
  /** Number of values that are exactly 0. The counts do not include them. */
  #zeros = 0;
  #total = 0;

  /** @param bins number of bins on each side of zero */
  constructor(bins: number) {
    this.#bins = bins;
    this.#counts = new Float64Array(2 * bins);
  }

  /** Number of counted values. */
  get total(): number {
    return this.#total;
  }

  /** Count values, given their summary. Ignore values that are not finite. */
  add(all: Float32Array, surveyed: ValueSummary): void {
    const [values, { min, max }] = finitePart(all, surveyed);
    this.#widen(Math.max(-min, max, 0));
    const counts = this.#counts;
    const bins = this.#bins;
    const perWidth = this.#width === 0 ? 0 : 1 / this.#width;
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    let [zeros, negativeZeros] = [0, 0];
    // No branches on the values, because the processor would mispredict them. Zeros are counted in bins, too.
    for (let at = 0; at < values.length; at += 1) {
      const pattern = bits[at] ?? 0;
      const place = ((Math.abs(values[at] ?? 0) * perWidth) | 0) + Math.imul(pattern >>> 31, bins);
      counts[place] = (counts[place] ?? 0) + 1;
      zeros += pattern === 0 ? 1 : 0;
      negativeZeros += pattern === negativeZero ? 1 : 0;
    }
    counts[0] = (counts[0] ?? 0) - zeros;
    counts[bins] = (counts[bins] ?? 0) - negativeZeros;
    this.#zeros += zeros + negativeZeros;
    this.#total += values.length;
  }

  /**
   * Call `visit` for every bin by rising magnitude, with the middle of the bin and its counts on either side.
   * Zeros come first.
   */
  forEach(visit: (magnitude: number, positive: number, negative: number) => void): void {
    if (this.#zeros > 0) visit(0, this.#zeros, 0);
    for (let bin = 0; bin < this.#bins; bin += 1) {
      const [positive = 0, negative = 0] = [this.#counts[bin], this.#counts[this.#bins + bin]];
      if (positive + negative > 0) visit((bin + 0.5) * this.#width, positive, negative);
    }
  }

  #widen(most: number): void {
    const bins = this.#bins;
    if (most === 0) return;
    // Powers of two keep the borders of all bins exact.
    if (this.#width === 0) this.#width = 2 ** Math.floor(Math.log2(most / bins));
    // Number of neighbouring bins that merge into one.
    let merged = 1;
    while (most >= this.#width * merged * bins) merged *= 2;
    if (merged === 1) return;
    for (const side of [this.#counts.subarray(0, bins), this.#counts.subarray(bins)]) {
      const filled = Math.ceil(bins / merged);
      let from = 0;
      for (let bin = 0; bin < filled; bin += 1) {
        let sum = 0;
        for (const end = Math.min(bins, (bin + 1) * merged); from < end; from += 1) sum += side[from] ?? 0;
        side[bin] = sum;
      }
      side.fill(0, filled);
    }
    this.#width *= merged;
  }
}
