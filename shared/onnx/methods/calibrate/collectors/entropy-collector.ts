import type { CalibrationRanges, Range } from '../ranges.ts';
import type { Collector } from './collector.ts';
import { Extremes } from './minmax-collector.ts';
import { summarizeValues } from './summarize-values.ts';
import { ValueHistogram } from './value-histogram.ts';

interface Seen {
  extremes: Extremes;
  /** Undefined if there is only one candidate range. */
  histogram: ValueHistogram | undefined;
}

/** Bins of the stored histogram on each side of zero. Several of them form one bin of the method. */
const keptBins = 2 ** 12;

/**
 * Choose the range whose quantized distribution diverges least from the observed one. This is ONNX Runtime's
 * Entropy calibration over all samples at once. By default there are as many levels as bins, as in ONNX Runtime,
 * and the full observed range is the only candidate. More bins make it search.
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
 * Return the thresholds on both sides of zero for which `levels` levels preserve a distribution best. `counts` are
 * those of equal bins from -`most` to `most`. Values beyond a threshold count at the threshold. Method of
 * TensorRT's calibration (S. Migacz, 8-bit Inference with TensorRT, 2017) as ONNX Runtime implements it.
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

/** Replacement for a count of zero, which has no logarithm. */
const smallest = 1e-4;

/** Move a little probability from the non-zero bins to the empty ones. Undefined if all bins are empty. */
function smoothed(counts: Float64Array): Float64Array | undefined {
  const zeros = counts.reduce((count, value) => count + (value === 0 ? 1 : 0), 0);
  const others = counts.length - zeros;
  if (others === 0) return undefined;
  const taken = (smallest * zeros) / others;
  return counts.map((value) => (value === 0 ? smallest : value - taken));
}

/** Merge neighbouring counts into `levels` levels, and spread each level evenly over its non-empty bins. */
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

/** Return the Kullback-Leibler divergence of two distributions. They need not sum to 1. */
function divergence(p: Float64Array, q: Float64Array): number {
  const [sumP, sumQ] = [sumOf(p), sumOf(q)];
  return p.reduce((sum, value, at) => {
    const share = value / sumP;
    return sum + share * Math.log(share / ((q[at] ?? 0) / sumQ));
  }, 0);
}

/** Count a histogram's values in `bins` bins of equal width from -`most` to `most`. */
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
