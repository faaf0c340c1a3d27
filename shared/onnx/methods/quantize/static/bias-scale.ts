import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import { roundHalfEven } from '../quantized-values.ts';

/**
 * Return the values of a bias, one for each scale. With one scale, return them unchanged. Undefined if the numbers
 * of values and scales do not match.
 */
export function biasValues(tensor: Tensor, scales: number): Float32Array | undefined {
  const count = elementCount(tensor.dims);
  if (scales === 1 || count === scales) return floatsOf(tensor);
  return count === 1 ? new Float32Array(scales).fill(floatsOf(tensor)[0] ?? 0) : undefined;
}

/**
 * Raise the scales of a weight if a bias would not fit into int32. The scale of a bias is that of the activation
 * times that of the weight. ONNX Runtime makes the same adjustment.
 */
export function raiseScales(
  scales: Float32Array,
  activationScale: number,
  values: Float32Array,
  isPerChannel: boolean,
): void {
  for (const [channel, scale] of scales.entries()) {
    const least = minScale(values, channel, isPerChannel);
    const candidate = activationScale * scale;
    if (candidate > 0 && candidate < least) scales[channel] = scale * (least / candidate);
  }
}

const maxInt32 = 2 ** 31 - 1;

const minInt32 = -(2 ** 31);

/** Safety factor on the smallest scale at which a bias fits into int32 (as in ONNX Runtime's quantizer). */
const margin = 1.0001;

const marginFloat32 = Math.fround(margin);

/**
 * Return the smallest scale for a bias as ONNX Runtime computes it: in double precision only for a single scale.
 */
function minScale(values: Float32Array, channel: number, isPerChannel: boolean): number {
  const range = maxInt32 - (minInt32 + 1);
  if (isPerChannel) {
    return Math.fround(marginFloat32 * Math.fround(2 * Math.abs(values[channel] ?? 0))) / range;
  }
  const magnitude = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return (margin * (2 * magnitude)) / range;
}

/** A bias in int32. */
export interface QuantizedBias {
  scales: Float32Array;
  levels: Int32Array;
}

/**
 * Quantize a bias. The scales are products in float32. The levels are divided in double precision, rounded half to
 * even and clipped.
 */
export function quantizedBias(
  values: Float32Array,
  activationScale: number,
  weightScales: Float32Array,
): QuantizedBias {
  const scales = weightScales.map((scale) => Math.fround(scale * activationScale));
  const levels = Int32Array.from(values, (value, at) => {
    const level = roundHalfEven(value / (scales[scales.length === 1 ? 0 : at] ?? 1));
    return Math.min(maxInt32, Math.max(minInt32, level));
  });
  return { scales, levels };
}
