import type { CalibrationRanges, Range } from '../ranges.ts';
import type { Collector } from './collector.ts';
import { Extremes } from './extremes.ts';

/** The range of an activation is from its smallest to its largest value. */
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
