import type { Curve } from './curve.ts';

export type XAxis = 'step' | 'time' | 'relative';

/** A drawable curve with ascending x. Both arrays have the same length. */
export interface Line {
  xs: Float64Array;
  ys: Float64Array;
}

/** Convert a curve to a line by step, by time (epoch seconds), or by seconds since its first point. */
export function lineOf({ steps, times, values }: Curve, axis: XAxis): Line {
  const count = values.length;
  const xs = new Float64Array(count);
  const ys = Float64Array.from(values);
  let start = Number.POSITIVE_INFINITY;
  if (axis === 'relative') for (const time of times) start = Math.min(start, time);
  let isRising = true;
  for (let index = 0; index < count; index += 1) {
    const time = times[index] ?? 0;
    // A point without a step is drawn at its position in the order of arrival.
    xs[index] =
      axis === 'step' ? (steps[index] ?? index) : axis === 'time' ? time / 1000 : (time - start) / 1000;
    if (index > 0 && (xs[index] ?? 0) < (xs[index - 1] ?? 0)) isRising = false;
  }
  if (isRising) return { xs, ys };
  const order = Uint32Array.from({ length: count }, (_, index) => index);
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
      out[index] = Number.isFinite(value) ? value : null;
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
