import type { CalibrationRanges, Range } from '../ranges.ts';
import type { Collector } from './collector.ts';
import { Extremes } from './minmax-collector.ts';
import { summarizeValues } from './summarize-values.ts';
import { ValueHistogram } from './value-histogram.ts';

interface Seen {
  extremes: Extremes;
  histogram: ValueHistogram;
}

/** Bins on each side of zero of the histogram. */
const bins = 2 ** 12;

/**
 * The range of an activation is the one that loses the least squared error to clipping and rounding together, over all
 * samples at once: with few outliers it leaves them out, with many it holds them.
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

/** Counts by value, negative ones first. */
interface Distribution {
  values: Float64Array;
  counts: Float64Array;
}

/** Parts of the whole range that are tried, for either end by itself: from all of it down to a twentieth. */
const steps = 60;

const minShare = 0.05;

/** The range of least squared error: one end is shrunk, then the other, for as long as that helps. */
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

/** Levels of the quantized values. */
const levels = 256;

/** Squared error of values that are clipped to a range, which holds zero, and rounded to its levels. */
export function rangeError({ values, counts }: Distribution, { min, max }: Range): number {
  const step = (max - min) / (levels - 1);
  let sum = 0;
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? 0;
    const beyond = value > max ? value - max : value < min ? min - value : 0;
    // Within the range the error is spread evenly over a step.
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
