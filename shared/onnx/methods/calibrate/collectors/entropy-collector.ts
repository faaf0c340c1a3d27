import type { CalibrationRanges, Range } from '../ranges.ts';
import type { Collector } from './collector.ts';
import { Extremes } from './minmax-collector.ts';
import { summarizeValues } from './summarize-values.ts';
import { ValueHistogram } from './value-histogram.ts';

interface Seen {
  extremes: Extremes;
  /** Undefined where there is nothing to search for. */
  histogram: ValueHistogram | undefined;
}

/** Bins on each side of zero of the histogram that is kept, of which several make one of the method's. */
const keptBins = 2 ** 12;

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

/**
 * The thresholds on both sides of zero between which a distribution is best kept by `levels` levels. `counts` are those
 * of equal bins from -`most` to `most`; values beyond a threshold count at it. Method of TensorRT's calibration (S.
 * Migacz, 8-bit Inference with TensorRT, 2017), in the form that ONNX Runtime gives it.
 */
function entropyThresholds(counts: Float64Array, levels: number, most: number): readonly [number, number] {
  const bins = counts.length;
  const middle = Math.floor(bins / 2);
  const border = (bin: number): number => Math.fround(-most + (2 * most * bin) / bins);
  let best: readonly [number, number] = [0, 0];
  let least = Number.POSITIVE_INFINITY;
  for (let half = Math.floor(levels / 2); half <= middle; half += 1) {
    const start = middle - half;
    const end = Math.min(middle + half + 1, bins);
    const inside = counts.subarray(start, end);
    const clipped = Float64Array.from(inside);
    clipped[0] = (clipped[0] ?? 0) + sumOf(counts.subarray(0, start));
    const last = clipped.length - 1;
    clipped[last] = (clipped[last] ?? 0) + sumOf(counts.subarray(end));
    const p = smoothed(clipped);
    const q = smoothed(requantized(inside, clipped, levels));
    const loss = p === undefined || q === undefined ? Number.POSITIVE_INFINITY : divergence(p, q);
    if (loss < least || half === Math.floor(levels / 2)) {
      least = loss;
      best = [border(start), border(end)];
    }
  }
  return best;
}

const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);

/** Replaces a probability of zero, which has no logarithm. */
const smallest = 1e-4;

/** Moves a little probability from the non-zero bins to the empty ones; undefined where all bins are empty. */
function smoothed(counts: Float64Array): Float64Array | undefined {
  const zeros = counts.reduce((count, value) => count + (value === 0 ? 1 : 0), 0);
  const others = counts.length - zeros;
  if (others === 0) return undefined;
  const taken = (smallest * zeros) / others;
  return counts.map((value) => (value === 0 ? smallest : value - taken));
}

/** The counts after neighbours were merged to `levels` levels and spread again over the bins that were not empty. */
function requantized(counts: Float64Array, kept: Float64Array, levels: number): Float64Array {
  const spread = new Float64Array(counts.length);
  const merged = Math.floor(counts.length / levels);
  for (let level = 0; level < levels; level += 1) {
    const start = level * merged;
    const isLast = level === levels - 1;
    const sum = sumOf(counts.subarray(start, isLast ? counts.length : start + merged));
    const end = start + merged;
    const filled = kept.subarray(start, end).reduce((count, value) => count + (value === 0 ? 0 : 1), 0);
    if (filled > 0) spread.fill(Math.trunc(sum / filled), start, end);
  }
  return spread;
}

/** Kullback-Leibler divergence of two distributions that need not sum to 1. */
function divergence(p: Float64Array, q: Float64Array): number {
  const [sumP, sumQ] = [sumOf(p), sumOf(q)];
  return p.reduce((sum, value, at) => {
    const share = value / sumP;
    return sum + share * Math.log(share / ((q[at] ?? 0) / sumQ));
  }, 0);
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
