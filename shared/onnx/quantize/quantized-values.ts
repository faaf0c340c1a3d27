import { elementCount } from '../tensor/tensor.ts';
import { type IntegerType, levelsOf, type Mapping, roundHalfEven, scaleOf } from './scale.ts';

/** Scale and zero point of each channel, or of the whole tensor where there is but one. */
export interface Scales {
  type: IntegerType;
  /** Axis of the channels; undefined where there is one scale for all. */
  axis: number | undefined;
  scales: Float32Array;
  zeroPoints: Int8Array | Uint8Array;
}

interface Layout {
  outer: number;
  channels: number;
  inner: number;
}

function layoutOf(dims: readonly number[], axis: number | undefined): Layout {
  if (axis === undefined) return { outer: 1, channels: 1, inner: elementCount(dims) };
  const [before, after] = [dims.slice(0, axis), dims.slice(axis + 1)];
  return { outer: elementCount(before), channels: dims[axis] ?? 1, inner: elementCount(after) };
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
  const { outer, channels, inner } = layoutOf(dims, axis);
  // Every range holds zero.
  const [least, most] = [new Float32Array(channels), new Float32Array(channels)];
  let hasNaN = false;
  for (let block = 0, at = 0; block < outer; block += 1) {
    for (let channel = 0; channel < channels; channel += 1) {
      let low = least[channel] ?? 0;
      let high = most[channel] ?? 0;
      for (const end = at + inner; at < end; at += 1) {
        const value = values[at] ?? 0;
        if (value > high) high = value;
        else if (!(value >= low)) {
          if (value < low) low = value;
          else hasNaN = true;
        }
      }
      least[channel] = low;
      most[channel] = high;
    }
  }
  const scales = new Float32Array(channels);
  const zeroPoints = integers(mapping.type, channels);
  for (let channel = 0; channel < channels; channel += 1) {
    const { scale, zeroPoint } = scaleOf(least[channel] ?? 0, most[channel] ?? 0, mapping);
    scales[channel] = scale;
    zeroPoints[channel] = zeroPoint;
  }
  if (hasNaN || scales.some((scale) => !Number.isFinite(scale))) return undefined;
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

/** Quantizes float32 values: divided in float32, rounded half to even, clipped to the whole type. */
export function quantize(
  values: Float32Array,
  dims: readonly number[],
  { type, axis, scales, zeroPoints }: Scales,
): Quantized {
  const { outer, channels, inner } = layoutOf(dims, axis);
  const [least, most] = levelsOf(type);
  const levels = integers(type, values.length);
  let [squares, lost, nonzeroBefore, nonzeroAfter] = [0, 0, 0, 0];
  for (let block = 0, at = 0; block < outer; block += 1) {
    for (let channel = 0; channel < channels; channel += 1) {
      const scale = scales[channel] ?? 1;
      const zeroPoint = zeroPoints[channel] ?? 0;
      for (const end = at + inner; at < end; at += 1) {
        const value = values[at] ?? 0;
        const rounded = roundHalfEven(Math.fround(value / scale)) + zeroPoint;
        const level = rounded < least ? least : rounded > most ? most : rounded;
        levels[at] = level;
        const difference = value - scale * (level - zeroPoint);
        squares += value * value;
        lost += difference * difference;
        if (value !== 0) nonzeroBefore += 1;
        if (level !== zeroPoint) nonzeroAfter += 1;
      }
    }
  }
  return { levels, error: lost === 0 ? 0 : Math.sqrt(lost / squares), nonzeroBefore, nonzeroAfter };
}
