import { eachBlock, kernels, maxColumns, place, roundedUp } from '../../model/kernels/kernels.ts';
import type { ByteSource } from '../../model/tensor/external-data.ts';
import { channelRanges, layoutOf } from './channel-ranges.ts';

/** Types of 8-bit quantized values. */
export type IntegerType = 'int8' | 'uint8';

/** Scale and zero point of each channel, or of the whole tensor. */
export interface Scales {
  type: IntegerType;
  /** Axis of the channels. Undefined for one scale. */
  axis: number | undefined;
  scales: Float32Array;
  zeroPoints: Int8Array | Uint8Array;
}

/** Create an array for values of an integer type. */
export const integers = (type: IntegerType, length: number): Int8Array | Uint8Array =>
  type === 'int8' ? new Int8Array(length) : new Uint8Array(length);

/** Mapping of a range of numbers to the levels of an integer type. */
export interface Mapping {
  type: IntegerType;
  /** Zero is the middle level; int8 then leaves out -128. */
  symmetric: boolean;
  /** Seven bits, for processors whose 8-bit products saturate. */
  reduced: boolean;
}

/**
 * Return the scales of float32 values (row-major, with dimensions `dims`), one for each channel along `axis` if it
 * is given. Undefined if no scale can represent a value: NaN, or magnitudes near the end of float32.
 */
export function scalesOf(
  source: ByteSource,
  dims: readonly number[],
  axis: number | undefined,
  mapping: Mapping,
): Scales | undefined {
  const layout = layoutOf(dims, axis);
  const { channels } = layout;
  const ranges = channelRanges(source, layout);
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

/** A number is `scale · (level − zeroPoint)`. */
interface Scale {
  scale: number;
  zeroPoint: number;
}

const smallestNormalFloat32 = 2 ** -126;

/**
 * Return scale and zero point of a range of float32 numbers, widened to include zero. The formulas are those of
 * ONNX Runtime's quantizer: the width in float32, the scale in double precision, stored as float32. An empty range
 * has scale 1.
 */
export function scaleOf(min: number, max: number, mapping: Mapping): Scale {
  const [least, most] = usedLevels(mapping);
  const magnitude = Math.max(-min, max, 0);
  const low = mapping.symmetric ? -magnitude : Math.min(min, 0);
  const high = mapping.symmetric ? magnitude : Math.max(max, 0);
  const scale = Math.fround(high - low) / (most - least);
  if (scale < smallestNormalFloat32) return { scale: 1, zeroPoint: 0 };
  const zero = mapping.symmetric ? (least + most) / 2 : least - low / scale;
  return { scale: Math.fround(scale), zeroPoint: roundHalfEven(zero) };
}

function usedLevels({ type, symmetric, reduced }: Mapping): readonly [number, number] {
  if (reduced) return type === 'int8' ? [-64, 64] : [0, 127];
  return symmetric && type === 'int8' ? [-127, 127] : levelsOf(type);
}

/** Return the smallest and largest level of a type. */
export const levelsOf = (type: IntegerType): readonly [number, number] =>
  type === 'int8' ? [-128, 127] : [0, 255];

/** 1.5 · 2^52. A sum with it has no fraction, and processors round it half to even. */
const noFraction = 6755399441055744;

/** Round half to even, for magnitudes below 2^51. */
export const roundHalfEven = (value: number): number => value + noFraction - noFraction;

/** Quantized values and the effect of quantization. */
interface Quantized {
  levels: Int8Array | Uint8Array;
  /** Relative L2 error; 0 if all values are zero. */
  error: number;
  nonzeroBefore: number;
  nonzeroAfter: number;
}

/** Quantize float32 values: divide in float32, round half to even, and clip to the whole type. */
export function quantize(
  source: ByteSource,
  dims: readonly number[],
  { type, axis, scales, zeroPoints }: Scales,
): Quantized {
  const { outer, inner } = layoutOf(dims, axis);
  const levels = integers(type, source.byteLength / 4);
  const { sums } = kernels();
  sums.fill(0);
  const by = { scales, zeroPoints: Float32Array.from(zeroPoints) };
  const bounds = levelsOf(type);
  // A negative level has the same bits in either type.
  const target = new Uint8Array(levels.buffer);
  if (inner === 1) quantizeRows(source, target, outer, by, bounds);
  else quantizeRuns(source, target, inner, by, bounds);
  const [squares = 0, lost = 0, nonzeroBefore = 0, nonzeroAfter = 0] = sums;
  return { levels, error: lost === 0 ? 0 : Math.sqrt(lost / squares), nonzeroBefore, nonzeroAfter };
}

/** Scale and zero point of each column. */
interface ByColumn {
  scales: Float32Array;
  zeroPoints: Float32Array;
}

/** Smallest and largest level. */
type Bounds = ReturnType<typeof levelsOf>;

/** Quantize rows with one value of each channel. */
function quantizeRows(
  source: ByteSource,
  levels: Uint8Array,
  outer: number,
  by: ByColumn,
  bounds: Bounds,
): void {
  const { bytes: room, floats } = kernels();
  const channels = by.scales.length;
  for (let column = 0; column < channels; column += maxColumns) {
    const columns = Math.min(maxColumns, channels - column);
    const width = roundedUp(columns, 4);
    const isWhole = width === channels;
    // The padding of a row has scale 1 and zero point 0.
    floats.fill(1, place.first / 4, place.first / 4 + width);
    floats.fill(0, place.second / 4, place.second / 4 + width);
    floats.set(by.scales.subarray(column, column + columns), place.first / 4);
    floats.set(by.zeroPoints.subarray(column, column + columns), place.second / 4);
    eachBlock(source, { column, columns, channels, rows: outer }, (end, row, count) => {
      quantizePlaced(end, 4 * width, bounds);
      if (isWhole) {
        levels.set(room.subarray(place.results, place.results + count * width), row * width);
        return;
      }
      for (let at = 0; at < count; at += 1) {
        const from = place.results + at * width;
        levels.set(room.subarray(from, from + columns), (row + at) * channels + column);
      }
    });
  }
}

/** Quantize the rows of `width` bytes at `place.values` into `place.results`. */
function quantizePlaced(end: number, width: number, [least, most]: Bounds): void {
  const { values, results, first, second, sums } = place;
  kernels().quantizeRows(values, end, width, results, first, second, least, most, sums);
}

/** Quantize runs of neighbouring values of one channel, as rows with many columns. */
function quantizeRuns(
  source: ByteSource,
  levels: Uint8Array,
  inner: number,
  by: ByColumn,
  bounds: Bounds,
): void {
  const { bytes: room, floats } = kernels();
  const channels = by.scales.length;
  const [scales, zeroPoints] = [place.first / 4, place.second / 4];
  for (let from = 0; from < levels.length; from += maxColumns) {
    const to = Math.min(from + maxColumns, levels.length);
    const width = roundedUp(to - from, 4);
    room.fill(0, place.values + 4 * (to - from), place.values + 4 * width);
    source.read(room.subarray(place.values, place.values + 4 * (to - from)), 4 * from);
    for (let at = from; at < to; ) {
      const run = Math.floor(at / inner);
      // The last run includes the padding of the row.
      const end = Math.min((run + 1) * inner, to);
      const until = end === to ? width : end - from;
      floats.fill(by.scales[run % channels] ?? 1, scales + at - from, scales + until);
      floats.fill(by.zeroPoints[run % channels] ?? 0, zeroPoints + at - from, zeroPoints + until);
      at = end;
    }
    quantizePlaced(place.values + 4 * width, 4 * width, bounds);
    levels.set(room.subarray(place.results, place.results + to - from), from);
  }
}
