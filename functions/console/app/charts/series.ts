import type { Curve } from './reading/curve.ts';

/** Horizontal axis: steps, times, or the values of a metric such as `metrics.epoch`. */
export type XAxis = 'step' | 'time' | 'relative' | `metrics.${string}`;

/** Return the metric of an axis; undefined for steps and times. */
export const metricOfAxis = (axis: XAxis): string | undefined =>
  axis.startsWith('metrics.') ? axis.slice('metrics.'.length) : undefined;

/** A drawable curve with ascending x. Both arrays have the same length. */
export interface Line {
  xs: Float64Array;
  ys: Float64Array;
}

/**
 * Convert a curve to a line by step, by time (epoch seconds), by seconds since its first point, or by another metric.
 * `by` is the curve of that metric of the same run; without it the line has no points.
 */
export function lineOf(curve: Curve, axis: XAxis, by?: Curve): Line {
  const { steps, times, values } = curve;
  if (metricOfAxis(axis) !== undefined) return by === undefined ? empty : lineByMetric(curve, by);
  const count = values.length;
  const xs = new Float64Array(count);
  let start = Number.POSITIVE_INFINITY;
  if (axis === 'relative') for (const time of times) start = Math.min(start, time);
  for (let index = 0; index < count; index += 1) {
    const time = times[index] ?? 0;
    // A point without a step is drawn at its position in the order of arrival.
    xs[index] =
      axis === 'step' ? (steps[index] ?? index) : axis === 'time' ? time / 1000 : (time - start) / 1000;
  }
  return rising(xs, Float64Array.from(values));
}

/**
 * Return the steps between which the points of a part of the horizontal axis lie, with the points beside it. Undefined
 * for an axis of a metric, whose values may come again.
 */
export function stepsIn(
  curves: readonly { curve: Curve }[],
  axis: XAxis,
  [from, to]: readonly [number, number],
): [number, number] | undefined {
  if (axis === 'step') return [from, to];
  if (metricOfAxis(axis) !== undefined) return undefined;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { curve } of curves) {
    const { xs } = lineOf(curve, axis);
    const steps = curve.steps.filter((step) => step !== null).sort((a, b) => a - b);
    if (steps.length !== xs.length || steps.length === 0) continue;
    low = Math.min(low, steps[Math.max(0, lowerBound(xs, from) - 1)] ?? low);
    high = Math.max(high, steps[Math.min(steps.length - 1, lowerBound(xs, to))] ?? high);
  }
  return low < high ? [low, high] : undefined;
}

const empty: Line = { xs: new Float64Array(), ys: new Float64Array() };

/**
 * Place each point at the latest value that the other metric had by its step. Programs log an epoch more rarely than a
 * loss. Points before its first value, and those at a value that is not finite, have no place.
 */
function lineByMetric({ steps, times, values }: Curve, by: Curve): Line {
  const hasSteps = !steps.includes(null) && !by.steps.includes(null);
  const [own, other] = hasSteps ? [steps as number[], by.steps as number[]] : [times, by.times];
  const order = (keys: readonly number[]): number[] =>
    keys.map((_, index) => index).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0) || a - b);
  const [points, marks] = [order(own), order(other)];
  const [xs, ys]: [number[], number[]] = [[], []];
  let at = -1;
  for (const index of points) {
    while (at + 1 < marks.length && (other[marks[at + 1] ?? 0] ?? 0) <= (own[index] ?? 0)) at += 1;
    const x = by.values[marks[at] ?? -1];
    if (x === undefined || !Number.isFinite(x)) continue;
    xs.push(x);
    ys.push(values[index] ?? Number.NaN);
  }
  return rising(Float64Array.from(xs), Float64Array.from(ys));
}

/** Sort the points of a line by x, unless they are sorted. */
function rising(xs: Float64Array, ys: Float64Array): Line {
  let isRising = true;
  for (let index = 1; index < xs.length && isRising; index += 1)
    isRising = (xs[index] ?? 0) >= (xs[index - 1] ?? 0);
  if (isRising) return { xs, ys };
  const order = Uint32Array.from({ length: xs.length }, (_, index) => index);
  order.sort((a, b) => (xs[a] ?? 0) - (xs[b] ?? 0) || a - b);
  return {
    xs: Float64Array.from(order, (index) => xs[index] ?? 0),
    ys: Float64Array.from(order, (index) => ys[index] ?? Number.NaN),
  };
}

/**
 * Compute the exponential moving average with bias correction (Kingma and Ba 2015, section 3). Leave values that
 * are not finite unchanged and ignore them.
 *
 * @param weight weight of past values, from 0 to just below 1
 */
export function smoothed(ys: Float64Array, weight: number): Float64Array {
  if (weight <= 0) return ys;
  const out = new Float64Array(ys.length);
  let average = 0;
  let bias = 1;
  for (let index = 0; index < ys.length; index += 1) {
    const value = ys[index] ?? Number.NaN;
    if (!Number.isFinite(value)) {
      out[index] = value;
      continue;
    }
    average = average * weight + value * (1 - weight);
    bias *= weight;
    out[index] = average / (1 - bias);
  }
  return out;
}

/** Return the first index whose x is at least `x`. */
function lowerBound(xs: Float64Array, x: number): number {
  let low = 0;
  let high = xs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((xs[middle] ?? 0) < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Thin a line to `buckets` pixels. Keep the minimum and maximum of each bucket, in order, so no peak is lost. Keep
 * the points just outside of the range, so lines reach the edges.
 */
export function thinned({ xs, ys }: Line, buckets: number, range?: readonly [number, number]): Line {
  const from = range === undefined ? 0 : Math.max(0, lowerBound(xs, range[0]) - 1);
  const to = range === undefined ? xs.length : Math.min(xs.length, lowerBound(xs, range[1]) + 1);
  if (to - from <= buckets * 2) return { xs: xs.subarray(from, to), ys: ys.subarray(from, to) };
  const keptX: number[] = [];
  const keptY: number[] = [];
  const size = (to - from) / buckets;
  const keep = (index: number) => {
    keptX.push(xs[index] ?? 0);
    keptY.push(ys[index] ?? Number.NaN);
  };
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    const end = Math.min(to, Math.floor(from + (bucket + 1) * size));
    let least = -1;
    let greatest = -1;
    let gap = -1;
    for (let index = Math.floor(from + bucket * size); index < end; index += 1) {
      const value = ys[index] ?? Number.NaN;
      if (!Number.isFinite(value)) gap = index;
      else {
        if (least < 0 || value < (ys[least] ?? 0)) least = index;
        if (greatest < 0 || value > (ys[greatest] ?? 0)) greatest = index;
      }
    }
    for (const index of [...new Set([least, greatest, gap])].filter((one) => one >= 0).sort((a, b) => a - b))
      keep(index);
  }
  return { xs: Float64Array.from(keptX), ys: Float64Array.from(keptY) };
}

/** Percentage of the values that are outliers at each end, as in TensorBoard. */
export const outlierPercent = 5;

/** Return the range of the values without outliers; undefined if nothing is left out. */
export function usualRange(lines: readonly Line[]): [number, number] | undefined {
  const all = Float64Array.from(lines.flatMap(({ ys }) => Array.from(ys).filter(Number.isFinite))).sort();
  const cut = Math.floor((all.length * outlierPercent) / 100);
  const [low, high] = [all[cut] ?? 0, all[all.length - 1 - cut] ?? 0];
  if (cut === 0 || low === high) return undefined;
  const margin = (high - low) / 20;
  return [low - margin, high + margin];
}

/** The range of an axis, with the room around it, must be a number. */
const maxDrawn = 4e307;

/** Return whether a line can show a value. Others are marked at the edge of the chart. */
export const isDrawable = (y: number): boolean => Math.abs(y) <= maxDrawn;

/** Say how many values of lines are only marked: "3 NaN", or "2 infinite or too large" for an axis. */
export function oddText(lines: readonly Pick<Line, 'ys'>[]): string | undefined {
  const odd = lines.flatMap(({ ys }) => Array.from(ys.filter((y) => !isDrawable(y))));
  if (odd.length === 0) return undefined;
  const kinds = [
    ...(odd.some(Number.isNaN) ? ['NaN'] : []),
    ...(odd.some((y) => Math.abs(y) === Number.POSITIVE_INFINITY) ? ['infinite'] : []),
    ...(odd.some(Number.isFinite) ? ['too large'] : []),
  ];
  return `${odd.length.toLocaleString('en')} ${kinds.join(' or ')}`;
}

/** Align lines over a common x axis for uPlot. Undefined means that a line has no point there, without a gap. */
export function aligned(lines: readonly Line[]): { xs: number[]; ys: (number | null | undefined)[][] } {
  const all = new Set<number>();
  for (const { xs } of lines) for (const x of xs) all.add(x);
  const xs = Float64Array.from(all).sort();
  const ys = lines.map((line) => {
    const out = new Array<number | null | undefined>(xs.length);
    let at = 0;
    for (let index = 0; index < xs.length; index += 1) {
      const x = xs[index];
      if (at >= line.xs.length || line.xs[at] !== x) {
        out[index] = undefined;
        continue;
      }
      const value = line.ys[at] ?? Number.NaN;
      out[index] = isDrawable(value) ? value : null;
      // The last of several points at one x counts.
      while (at < line.xs.length && line.xs[at] === x) at += 1;
    }
    return out;
  });
  return { xs: Array.from(xs), ys };
}

/** Return a line's point nearest to an x; undefined for a line without points. */
export function nearest({ xs, ys }: Line, x: number): { x: number; y: number } | undefined {
  if (xs.length === 0) return undefined;
  const right = lowerBound(xs, x);
  const left = Math.max(0, right - 1);
  const index =
    right >= xs.length || Math.abs((xs[left] ?? 0) - x) <= Math.abs((xs[right] ?? 0) - x) ? left : right;
  return { x: xs[index] ?? 0, y: ys[index] ?? Number.NaN };
}
