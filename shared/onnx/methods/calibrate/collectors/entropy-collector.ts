import type { CalibrationRanges, Range } from '../ranges.ts';
import type { Collector } from './collector.ts';
import { entropyThresholds } from './entropy-thresholds.ts';
import { Extremes } from './extremes.ts';
import { summarizeValues } from './summarize-values.ts';
import { ValueHistogram } from './value-histogram.ts';

/** Bins on each side of zero of the histogram that is kept, of which several make one of the method's. */
const keptBins = 2 ** 12;

interface Seen {
  extremes: Extremes;
  /** Undefined where there is nothing to search for. */
  histogram: ValueHistogram | undefined;
}

/** Counts in `bins` of equal width from -`most` to `most`. */
function rebinned(histogram: ValueHistogram, bins: number, most: number): Float64Array {
  const counts = new Float64Array(bins);
  const put = (value: number, count: number): void => {
    const bin = Math.min(bins - 1, Math.max(0, Math.floor(((value + most) / (2 * most)) * bins)));
    counts[bin] = (counts[bin] ?? 0) + count;
  };
  histogram.forEach((magnitude, positive, negative) => {
    put(magnitude, positive);
    put(-magnitude, negative);
  });
  return counts;
}

/**
 * The range of an activation is the one whose quantized distribution diverges least from the true one: ONNX Runtime's
 * Entropy calibration over all samples at once. With as many levels as bins, which are its defaults, the range of all
 * that was seen is the only candidate; more bins make it search.
 */
export class EntropyCollector implements Collector {
  readonly #bins: number;
  readonly #levels: number;
  /** Whether there is more than one candidate. */
  readonly #isSearching: boolean;
  readonly #seen = new Map<string, Seen>();

  constructor({ bins = 128, levels = 128 }: { bins?: number; levels?: number } = {}) {
    this.#bins = bins;
    this.#levels = levels;
    this.#isSearching = bins > levels;
  }

  add(name: string, values: Float32Array): void {
    const seen = this.#seen.get(name) ?? {
      extremes: new Extremes(),
      histogram: this.#isSearching ? new ValueHistogram(keptBins) : undefined,
    };
    this.#seen.set(name, seen);
    if (seen.histogram === undefined) {
      seen.extremes.add(values);
      return;
    }
    const surveyed = summarizeValues(values);
    seen.extremes.include(surveyed);
    seen.histogram.add(values, surveyed);
  }

  ranges(): CalibrationRanges {
    const ranges = new Map<string, Range>();
    for (const [name, seen] of this.#seen) {
      const { range } = seen.extremes;
      if (range === undefined) continue;
      const most = Math.max(-range.min, range.max);
      const { histogram } = seen;
      const [low, high] =
        histogram !== undefined && most > 0 && Number.isFinite(most)
          ? entropyThresholds(rebinned(histogram, this.#bins, most), this.#levels, most)
          : [range.min, range.max];
      ranges.set(name, { min: Math.max(low, range.min), max: Math.min(high, range.max) });
    }
    return ranges;
  }
}
