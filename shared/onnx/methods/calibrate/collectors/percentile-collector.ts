import type { CalibrationRanges, Range } from '../ranges.ts';
import type { Collector } from './collector.ts';
import { MagnitudeHistogram } from './magnitude-histogram.ts';
import { Extremes } from './minmax-collector.ts';
import { summarizeValues } from './summarize-values.ts';

interface Seen {
  extremes: Extremes;
  /** Smallest magnitude. */
  least: number;
  histogram: MagnitudeHistogram;
}

/**
 * Leave the largest magnitudes out of the range. This is ONNX Runtime's Percentile calibration over all samples at
 * once. It divides the magnitudes from smallest to largest into `bins` bins. The threshold is the lower border of
 * the bin that reaches `percentile` percent.
 */
export class PercentileCollector implements Collector {
  readonly #percentile: number;
  readonly #bins: number;
  readonly #seen = new Map<string, Seen>();

  constructor({ percentile = 99.999, bins = 2048 }: { percentile?: number; bins?: number } = {}) {
    this.#percentile = percentile;
    this.#bins = bins;
  }

  add(name: string, values: Float32Array): void {
    const seen = this.#seen.get(name) ?? {
      extremes: new Extremes(),
      least: Number.POSITIVE_INFINITY,
      histogram: new MagnitudeHistogram(),
    };
    this.#seen.set(name, seen);
    const surveyed = summarizeValues(values);
    seen.extremes.include(surveyed);
    seen.least = Math.min(seen.least, surveyed.least);
    seen.histogram.add(values, surveyed);
  }

  ranges(): CalibrationRanges {
    const ranges = new Map<string, Range>();
    for (const [name, seen] of this.#seen) {
      const { range } = seen.extremes;
      if (range === undefined) continue;
      const threshold = this.#threshold(seen, Math.max(-range.min, range.max));
      ranges.set(name, { min: Math.max(-threshold, range.min), max: Math.min(threshold, range.max) });
    }
    return ranges;
  }

  #threshold({ histogram, least }: Seen, most: number): number {
    // A histogram of equal values has a bin border at that value. Infinity is in no bin.
    if (least >= most || most === Number.POSITIVE_INFINITY) return most;
    const reached = this.#quantile(histogram, most);
    const width = Math.fround(Math.fround(most - least) / this.#bins);
    const bin = Math.min(this.#bins - 1, Math.max(0, Math.floor((reached - least) / width)));
    return Math.fround(Math.fround(bin * width) + least);
  }

  /** Return the magnitude at the percentile, exact to half a bin. */
  #quantile(histogram: MagnitudeHistogram, most: number): number {
    const wanted = (histogram.total * this.#percentile) / 100;
    // The percentile excludes less than one value, so return the largest magnitude.
    if (wanted > histogram.total - 1) return most;
    return Math.min(histogram.reached(wanted) ?? most, most);
  }
}
