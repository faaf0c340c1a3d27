import { eachBlock, kernels, maxColumns, partsOf, place, roundedUp } from '../../model/kernels/kernels.ts';
import type { ByteSource } from '../../model/tensor/external-data.ts';
import { elementCount } from '../../model/tensor/tensor.ts';

/** Range of each channel. Every range includes zero: `least` is at most 0, `most` at least 0. */
export interface ChannelRanges {
  least: Float32Array;
  most: Float32Array;
  /** Whether all values are finite. */
  isFinite: boolean;
}

/** Channel layout of a tensor: `outer` blocks of `channels` runs of `inner` values. */
export interface Layout {
  outer: number;
  channels: number;
  inner: number;
}

/** Return the layout along an axis. Without an axis, all values form one channel. */
export function layoutOf(dims: readonly number[], axis: number | undefined): Layout {
  if (axis === undefined) return { outer: 1, channels: 1, inner: elementCount(dims) };
  const [before, after] = [dims.slice(0, axis), dims.slice(axis + 1)];
  return { outer: elementCount(before), channels: dims[axis] ?? 1, inner: elementCount(after) };
}

/** Return the smallest and largest value of each channel of float32 values. */
export function channelRanges(source: ByteSource, layout: Layout): ChannelRanges {
  const [least, most] = [new Float32Array(layout.channels), new Float32Array(layout.channels)];
  const ranges = { least, most, isFinite: true };
  const widen = layout.inner === 1 ? widenByRows : widenByRuns;
  // NaN and infinity times 0 are NaN, which makes the sum NaN.
  ranges.isFinite = widen(source, layout, ranges) === 0;
  return ranges;
}

/** Widen the ranges by rows with one value of each channel, as in a matrix. Return 0 if all values are finite. */
function widenByRows(
  source: ByteSource,
  { outer, channels }: Layout,
  { least, most }: ChannelRanges,
): number {
  const { floats, widenByRows: widen } = kernels();
  let check = 0;
  for (let column = 0; column < channels; column += maxColumns) {
    const block = { column, columns: Math.min(maxColumns, channels - column), rows: outer, channels };
    const width = 4 * roundedUp(block.columns, 4);
    floats.fill(0, place.first / 4, (place.first + width) / 4);
    floats.fill(0, place.second / 4, (place.second + width) / 4);
    eachBlock(source, block, (end) => {
      check += widen(place.values, end, width, place.first, place.second);
    });
    least.set(floats.subarray(place.first / 4, place.first / 4 + block.columns), column);
    most.set(floats.subarray(place.second / 4, place.second / 4 + block.columns), column);
  }
  return check;
}

/** Widen the ranges by runs of neighbouring values of one channel. Return 0 if all values are finite. */
function widenByRuns(
  source: ByteSource,
  { channels, inner }: Layout,
  { least, most }: ChannelRanges,
): number {
  const { floats, widenByRun } = kernels();
  const range = place.first / 4;
  let check = 0;
  for (const part of partsOf(source)) {
    const from = part.from / 4;
    const to = from + (part.end - place.values) / 4;
    for (let at = from; at < to; ) {
      const run = Math.floor(at / inner);
      const channel = run % channels;
      const end = Math.min((run + 1) * inner, to);
      floats[range] = least[channel] ?? 0;
      floats[range + 1] = most[channel] ?? 0;
      check += widenByRun(place.values + 4 * (at - from), place.values + 4 * (end - from), place.first);
      least[channel] = floats[range] ?? 0;
      most[channel] = floats[range + 1] ?? 0;
      at = end;
    }
  }
  return check;
}
