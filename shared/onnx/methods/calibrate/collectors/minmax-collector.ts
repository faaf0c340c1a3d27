import type { CalibrationRanges, Range } from '../ranges.ts';
import type { Collector } from './collector.ts';
import { summarizeValues } from './summarize-values.ts';

/** Use the smallest and largest value of an activation as its range. */
export class MinMaxCollector implements Collector {
  readonly #extremes = new Map<string, Extremes>();

  add(name: string, values: Float32Array): void {
    const extremes = this.#extremes.get(name) ?? new Extremes();
    this.#extremes.set(name, extremes);
    extremes.add(values);
  }

  ranges(): CalibrationRanges {
    const ranges = new Map<string, Range>();
    for (const [name, { range }] of this.#extremes) if (range !== undefined) ranges.set(name, range);
    return ranges;
  }
}

/** Smallest and largest of all added numbers. NaN is ignored. */
export class Extremes {
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;

  add(values: Float32Array): void {
    this.include(summarizeValues(values));
  }

  /** Include the extremes of other numbers. */
  include({ min, max }: Range): void {
    if (min < this.min) this.min = min;
    if (max > this.max) this.max = max;
  }

  /** Undefined if no number was added. */
  get range(): Range | undefined {
    return this.min <= this.max ? { min: this.min, max: this.max } : undefined;
  }
}
