import { channelsOf, type WeightLayout } from './weight-layout.ts';

/**
 * Selection of the largest magnitudes by partition over the bits of float32, which without the sign order like the
 * numbers themselves: two passes and two histograms, for any number of values and pieces. NaN counts as larger than
 * everything.
 */

const lowBits = 15;
const highBins = 2 ** (31 - lowBits);
const lowBins = 2 ** lowBits;
const withoutSign = 0x7fffffff;

/** Magnitudes of some values as integers that order alike; `kept` are the positions that are always kept. */
export interface Magnitudes {
  bits: Uint32Array;
  kept: Uint32Array;
}

/** Values above `bits` are kept, and of those that equal it the first `ties`. */
export interface Threshold {
  bits: number;
  ties: number;
}

/** The bits of float32 values, sign included. */
export const bitsOfFloats = (values: Float32Array): Uint32Array =>
  new Uint32Array(values.buffer, values.byteOffset, values.length);

export const magnitudeBits = (bits: number): number => bits & withoutSign;

/** Lowers `count` bin by bin from the top: the bin in which it is used up, and what is left of it there. */
function partition(histogram: Float64Array, count: number): { bin: number; left: number } {
  let left = count;
  for (let bin = histogram.length - 1; bin > 0; bin -= 1) {
    const size = histogram[bin] ?? 0;
    if (size >= left) return { bin, left };
    left -= size;
  }
  return { bin: 0, left };
}

/**
 * The threshold that keeps `count` values, apart from those that are always kept. `pieces` is gone through twice and
 * must give the same values both times.
 */
export function selectLargest(count: number, pieces: () => Iterable<Magnitudes>): Threshold {
  if (count <= 0) return { bits: Number.POSITIVE_INFINITY, ties: 0 };
  const high = new Float64Array(highBins);
  const addHigh = (bits: number, by: number): void => {
    const bin = (bits & withoutSign) >>> lowBits;
    high[bin] = (high[bin] ?? 0) + by;
  };
  for (const { bits, kept } of pieces()) {
    for (let at = 0; at < bits.length; at += 1) addHigh(bits[at] ?? 0, 1);
    for (const at of kept) addHigh(bits[at] ?? 0, -1);
  }
  const upper = partition(high, count);
  const low = new Float64Array(lowBins);
  const addLow = (bits: number, by: number): void => {
    const magnitude = bits & withoutSign;
    if (magnitude >>> lowBits !== upper.bin) return;
    const bin = magnitude & (lowBins - 1);
    low[bin] = (low[bin] ?? 0) + by;
  };
  for (const { bits, kept } of pieces()) {
    for (let at = 0; at < bits.length; at += 1) addLow(bits[at] ?? 0, 1);
    for (const at of kept) addLow(bits[at] ?? 0, -1);
  }
  const lower = partition(low, upper.left);
  return { bits: upper.bin * lowBins + lower.bin, ties: lower.left };
}

/** The place of the largest magnitude of each output channel; the first of equals. */
export function strongestOfChannels(bits: Uint32Array, layout: WeightLayout): Uint32Array {
  const { outer, reduction, inner, isInnerChannel } = layout;
  const strongest = new Uint32Array(channelsOf(layout));
  const most = new Int32Array(strongest.length).fill(-1);
  let at = 0;
  for (let channel = 0; channel < outer; channel += 1) {
    for (let step = 0; step < reduction; step += 1) {
      for (let place = 0; place < inner; place += 1, at += 1) {
        const own = isInnerChannel ? channel * inner + place : channel;
        const magnitude = (bits[at] ?? 0) & withoutSign;
        if (magnitude > (most[own] ?? 0)) {
          most[own] = magnitude;
          strongest[own] = at;
        }
      }
    }
  }
  return strongest;
}
