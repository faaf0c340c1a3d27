import type { Range } from '../ranges.ts';
import { summarizeValues } from './summarize-values.ts';

/** Smallest and largest of all numbers that were added; NaN is none. */
export class Extremes {
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;

  add(values: Float32Array): void {
    this.include(summarizeValues(values));
  }

  /** Takes in the extremes of other numbers. */
  include({ min, max }: Range): void {
    if (min < this.min) this.min = min;
    if (max > this.max) this.max = max;
  }

  /** Undefined where there was no number. */
  get range(): Range | undefined {
    return this.min <= this.max ? { min: this.min, max: this.max } : undefined;
  }
}
