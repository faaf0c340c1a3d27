import { channelRanges, layoutOf } from './channel-ranges.ts';
import { type IntegerType, levelsOf, type Mapping, roundHalfEven, type Scale, scaleOf } from './scale.ts';

/** Scale and zero point of each channel, or of the whole tensor where there is but one. */
export interface Scales {
  type: IntegerType;
  /** Axis of the channels; undefined where there is one scale for all. */
  axis: number | undefined;
  scales: Float32Array;
  zeroPoints: Int8Array | Uint8Array;
}

/** A new array for values of an integer type. */
export const integers = (type: IntegerType, length: number): Int8Array | Uint8Array =>
  type === 'int8' ? new Int8Array(length) : new Uint8Array(length);

/**
 * Scales of float32 values (row-major, of these dimensions), one for each channel along `axis` where it is given;
 * undefined where there are values that no scale can hold: NaN, or magnitudes near the end of float32.
 */
export function scalesOf(
  values: Float32Array,
  dims: readonly number[],
  axis: number | undefined,
  mapping: Mapping,
): Scales | undefined {
  const layout = layoutOf(dims, axis);
  const { channels } = layout;
  const ranges = channelRanges(values, layout);
  const scales = new Float32Array(channels);
  const zeroPoints = integers(mapping.type, channels);
  for (let channel = 0; channel < channels; channel += 1) {
    const { scale, zeroPoint } = scaleOf(ranges.least[channel] ?? 0, ranges.most[channel] ?? 0, mapping);
    scales[channel] = scale;
    zeroPoints[channel] = zeroPoint;
  }
  if (!ranges.isFinite || scales.some((scale) => !Number.isFinite(scale))) return undefined;
  return { type: mapping.type, axis, scales, zeroPoints };
}

/** Quantized values, and what quantization did to them. */
export interface Quantized {
  levels: Int8Array | Uint8Array;
  /** Relative L2 error; 0 where all values are zero. */
  error: number;
  nonzeroBefore: number;
  nonzeroAfter: number;
}

/** Sums over what was quantized so far. */
interface Sums {
  squares: number;
  lost: number;
  nonzeroBefore: number;
  nonzeroAfter: number;
}

/** Where values lie and go, and at which levels. Kept alike for all types, so that it is compiled well. */
interface Target {
  values: Float32Array;
  bytes: Uint8Array;
  least: number;
  most: number;
  sums: Sums;
}

// Both loops are written out, with a variable for each sum: calls and arrays in them cost twice the time.

/** Quantizes neighbours of one channel. */
function quantizeRun(
  { values, bytes, least, most, sums }: Target,
  start: number,
  length: number,
  { scale, zeroPoint }: Scale,
): void {
  const end = start + length;
  let squares = 0;
  let lost = 0;
  let before = 0;
  let after = 0;
  for (let at = start; at < end; at += 1) {
    const value = values[at] ?? 0;
    const rounded = roundHalfEven(Math.fround(value / scale)) + zeroPoint;
    const level = rounded < least ? least : rounded > most ? most : rounded;
    bytes[at] = level;
    const difference = value - scale * (level - zeroPoint);
    squares += value * value;
    lost += difference * difference;
    before += value === 0 ? 0 : 1;
    after += level === zeroPoint ? 0 : 1;
  }
  addTo(sums, squares, lost, before, after);
}

/** Quantizes one value of each channel, side by side as in the row of a matrix. */
function quantizeRow(
  { values, bytes, least, most, sums }: Target,
  start: number,
  scales: Float32Array,
  zeroPoints: Int16Array,
): void {
  const channels = scales.length;
  let squares = 0;
  let lost = 0;
  let before = 0;
  let after = 0;
  for (let channel = 0; channel < channels; channel += 1) {
    const value = values[start + channel] ?? 0;
    const scale = scales[channel] ?? 1;
    const zeroPoint = zeroPoints[channel] ?? 0;
    const rounded = roundHalfEven(Math.fround(value / scale)) + zeroPoint;
    const level = rounded < least ? least : rounded > most ? most : rounded;
    bytes[start + channel] = level;
    const difference = value - scale * (level - zeroPoint);
    squares += value * value;
    lost += difference * difference;
    before += value === 0 ? 0 : 1;
    after += level === zeroPoint ? 0 : 1;
  }
  addTo(sums, squares, lost, before, after);
}

function addTo(sums: Sums, squares: number, lost: number, before: number, after: number): void {
  sums.squares += squares;
  sums.lost += lost;
  sums.nonzeroBefore += before;
  sums.nonzeroAfter += after;
}

/** Quantizes float32 values: divided in float32, rounded half to even, clipped to the whole type. */
export function quantize(
  values: Float32Array,
  dims: readonly number[],
  { type, axis, scales, zeroPoints }: Scales,
): Quantized {
  const { outer, channels, inner } = layoutOf(dims, axis);
  const [least, most] = levelsOf(type);
  const levels = integers(type, values.length);
  const sums: Sums = { squares: 0, lost: 0, nonzeroBefore: 0, nonzeroAfter: 0 };
  // A negative level has the same bits in either type.
  const target = { values, bytes: new Uint8Array(levels.buffer), least, most, sums };
  // One array class for all types.
  const zeros = Int16Array.from(zeroPoints);
  for (let block = 0, start = 0; block < outer; block += 1) {
    if (inner === 1) {
      quantizeRow(target, start, scales, zeros);
      start += channels;
      continue;
    }
    for (let channel = 0; channel < channels; channel += 1, start += inner) {
      const own = { scale: scales[channel] ?? 1, zeroPoint: zeros[channel] ?? 0 };
      quantizeRun(target, start, inner, own);
    }
  }
  const { squares, lost, nonzeroBefore, nonzeroAfter } = sums;
  return { levels, error: lost === 0 ? 0 : Math.sqrt(lost / squares), nonzeroBefore, nonzeroAfter };
}
