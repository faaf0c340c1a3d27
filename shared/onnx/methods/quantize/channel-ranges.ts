import { eachBlock, kernels, maxColumns, partsOf, place, roundedUp } from '../../model/kernels/kernels.ts';
import type { ByteSource } from '../../model/tensor/external-data.ts';
import { elementCount } from '../../model/tensor/tensor.ts';

/** Zero or below, and zero or above, for each channel: every range holds zero. */
export interface ChannelRanges {
  least: Float32Array;
  most: Float32Array;
  /** Whether there is neither NaN nor infinity among the values. */
  isFinite: boolean;
}

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

/** Smallest and largest value of each channel of float32 values. */
export function channelRanges(source: ByteSource, layout: Layout): ChannelRanges {
  const [least, most] = [new Float32Array(layout.channels), new Float32Array(layout.channels)];
  const ranges = { least, most, isFinite: true };
  const widen = layout.inner === 1 ? widenByRows : widenByRuns;
  // NaN and infinity times 0 are NaN, and so is every sum with it.
  ranges.isFinite = widen(source, layout, ranges) === 0;
  return ranges;
}

/** Takes in rows with one value of each channel, as of a matrix. 0 as above. */
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

/** Takes in runs of neighbours, each of one channel. 0 unless there is NaN or infinity among them. */
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
