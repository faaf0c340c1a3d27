import type { CalibrationRanges, Range } from '../ranges.ts';
import type { Collector } from './collector.ts';
import { Extremes } from './minmax-collector.ts';
import { summarizeValues } from './summarize-values.ts';
import { ValueHistogram } from './value-histogram.ts';

interface Seen {
  extremes: Extremes;
  histogram: ValueHistogram;
}

/** Bins of the histogram on each side of zero. */
const bins = 2 ** 12;

/**
 * Choose the range with the least squared error of clipping and rounding together, over all samples at once. It
 * leaves out a few outliers, but includes many.
 */
export class MseCollector implements Collector {
  readonly #seen = new Map<string, Seen>();

  add(name: string, values: Float32Array): void {
    const seen = this.#seen.get(name) ?? { extremes: new Extremes(), histogram: new ValueHistogram(bins) };
    this.#seen.set(name, seen);
    const summary = summarizeValues(values);
    seen.extremes.include(summary);
    seen.histogram.add(values, summary);
  }

  ranges(): CalibrationRanges {
    const ranges = new Map<string, Range>();
    for (const [name, { extremes, histogram }] of this.#seen) {
      const { range } = extremes;
      if (range === undefined) continue;
      const isBounded = Number.isFinite(range.min) && Number.isFinite(range.max);
      ranges.set(name, isBounded ? leastErrorRange(distributionOf(histogram), range) : range);
    }
    return ranges;
  }
}

/** Distinct values and the count of each. */
interface Distribution {
  values: Float64Array;
  counts: Float64Array;
}

/** Number of candidate positions for each end of the range, from the full range down to a twentieth. */
const steps = 60;

const minShare = 0.05;

/** Return the range with the least squared error. Shrink the upper end, then the lower end, in two rounds. */
export function leastErrorRange(distribution: Distribution, whole: Range): Range {
  let best = { min: Math.min(whole.min, 0), max: Math.max(whole.max, 0) };
  const full = best;
  let least = rangeError(distribution, best);
  for (let round = 0; round < 2; round += 1) {
    for (const end of ['max', 'min'] as const) {
      for (let step = 1; step <= steps; step += 1) {
        const share = 1 - ((1 - minShare) * step) / steps;
        const candidate = { ...best, [end]: full[end] * share };
        const error = rangeError(distribution, candidate);
        if (error < least) [best, least] = [candidate, error];
      }
    }
  }
  return best;
}

/** Number of levels of the quantized values. */
const levels = 256;

/**
 * Return the squared error of values that are clipped to a range and rounded to its levels. The range includes
 * zero.
 */
export function rangeError({ values, counts }: Distribution, { min, max }: Range): number {
  const step = (max - min) / (levels - 1);
  let sum = 0;
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? 0;
    const beyond = value > max ? value - max : value < min ? min - value : 0;
    // Inside the range, assume a rounding error with uniform distribution over a step.
    sum += (counts[at] ?? 0) * (beyond > 0 ? beyond * beyond : (step * step) / 12);
  }
  return sum;
}

function distributionOf(histogram: ValueHistogram): Distribution {
  const found: [value: number, count: number][] = [];
  histogram.forEach((magnitude, positive, negative) => {
    if (positive > 0) found.push([magnitude, positive]);
    if (negative > 0) found.push([-magnitude, negative]);
  });
  return {
    values: Float64Array.from(found, ([value]) => value),
    counts: Float64Array.from(found, ([, count]) => count),
  };
}
