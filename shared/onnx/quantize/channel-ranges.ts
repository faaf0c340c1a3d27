import { elementCount } from '../tensor/tensor.ts';

/** How the channels of a tensor lie: `outer` blocks of `channels` runs of `inner` values. */
export interface Layout {
  outer: number;
  channels: number;
  inner: number;
}

/** The layout along an axis; one channel of all values where there is none. */
export function layoutOf(dims: readonly number[], axis: number | undefined): Layout {
  if (axis === undefined) return { outer: 1, channels: 1, inner: elementCount(dims) };
  const [before, after] = [dims.slice(0, axis), dims.slice(axis + 1)];
  return { outer: elementCount(before), channels: dims[axis] ?? 1, inner: elementCount(after) };
}

/** Zero or below, and zero or above, for each channel: every range holds zero. */
interface Extremes {
  least: Float32Array;
  most: Float32Array;
}

export interface ChannelRanges extends Extremes {
  /** Whether there is neither NaN nor infinity among the values. */
  isFinite: boolean;
}

/** Takes in neighbours of one channel. 0 unless there is NaN or infinity among them. */
function widenByRun(
  values: Float32Array,
  start: number,
  length: number,
  ranges: Extremes,
  channel: number,
): number {
  let low = ranges.least[channel] ?? 0;
  let high = ranges.most[channel] ?? 0;
  let check = 0;
  for (let at = start; at < start + length; at += 1) {
    const value = values[at] ?? 0;
    check += value * 0;
    if (value > high) high = value;
    else if (value < low) low = value;
  }
  ranges.least[channel] = low;
  ranges.most[channel] = high;
  return check;
}

/** Takes in one value of each channel, side by side as in the row of a matrix. 0 as above. */
function widenByRow(values: Float32Array, start: number, { least, most }: Extremes): number {
  let check = 0;
  for (let channel = 0; channel < least.length; channel += 1) {
    const value = values[start + channel] ?? 0;
    check += value * 0;
    if (value > (most[channel] ?? 0)) most[channel] = value;
    else if (value < (least[channel] ?? 0)) least[channel] = value;
  }
  return check;
}

/** Smallest and largest value of each channel. */
export function channelRanges(values: Float32Array, { outer, channels, inner }: Layout): ChannelRanges {
  const ranges = { least: new Float32Array(channels), most: new Float32Array(channels) };
  let check = 0;
  for (let block = 0, start = 0; block < outer; block += 1) {
    if (inner === 1) {
      check += widenByRow(values, start, ranges);
      start += channels;
      continue;
    }
    for (let channel = 0; channel < channels; channel += 1, start += inner) {
      check += widenByRun(values, start, inner, ranges, channel);
    }
  }
  // NaN and infinity times 0 are NaN, and so is every sum with it.
  return { ...ranges, isFinite: check === 0 };
}
