import { elementCount, filledTensor, lazyTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import type { LayerChange, TransformReport } from '../../report/report.ts';

/** Largest finite number of half precision. */
const mostHalf = 65504;

/** Replacement for infinity in half precision. It is small enough that sums with it stay finite. */
const marker = 1e4;

/**
 * Clamp finite values beyond half precision to ±`end`, and count them. Infinities have a meaning, as in masks, and
 * stay.
 */
function clamped(values: Float32Array, end: number): { values: Float32Array; count: number } {
  const isBeyond = (value: number): boolean => Math.abs(value) > mostHalf && Number.isFinite(value);
  const count = values.reduce((sum, value) => (isBeyond(value) ? sum + 1 : sum), 0);
  if (count === 0) return { values, count };
  return { values: values.map((value) => (isBeyond(value) ? Math.sign(value) * end : value)), count };
}

/**
 * Return ‖h − v‖ / ‖v‖ if all values are finite and in half precision, else undefined. Most constants are, and this
 * takes half of the time of {@link relativeError}.
 */
function plainError(values: Float32Array, halves: Float16Array): number | undefined {
  let [error, norm, largest] = [0, 0, 0];
  for (let from = 0; from < values.length; from += part) {
    const own = values.subarray(from, from + part);
    const back = new Float32Array(halves.subarray(from, from + part));
    for (let at = 0; at < own.length; at += 1) {
      const value = own[at] ?? 0;
      const lost = (back[at] ?? 0) - value;
      const size = Math.abs(value);
      error += lost * lost;
      norm += value * value;
      largest = size > largest ? size : largest;
    }
  }
  // Of values that are not finite, the sums are not, either.
  if (!Number.isFinite(error) || largest > mostHalf) return undefined;
  return norm === 0 ? 0 : Math.sqrt(error / norm);
}

/** Values that are compared at a time, so that their copies stay in the cache. */
const part = 2 ** 14;

/** Return ‖h − v‖ / ‖v‖ over the finite values. */
function relativeError(values: Float32Array, halves: Float16Array): number {
  let [error, norm] = [0, 0];
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? 0;
    if (!Number.isFinite(value)) continue;
    error += ((halves[at] ?? 0) - value) ** 2;
    norm += value * value;
  }
  return norm === 0 ? 0 : Math.sqrt(error / norm);
}

/**
 * Convert a float32 constant to half precision: rounded half to even, and clamped to ±65504, or to ±10,000 if it
 * stands for infinity. The values are computed on write.
 */
export function halfTensor(
  tensor: Tensor,
  name: string,
  report: TransformReport,
  { layer, isMarker }: { layer: LayerChange | undefined; isMarker: boolean },
): Tensor {
  const half = lazyTensor(name, 'float16', tensor.dims, () => {
    const values = floatsOf(tensor);
    let halves = new Float16Array(values);
    let count = 0;
    let error = plainError(values, halves);
    if (error === undefined) {
      const inside = clamped(values, isMarker ? marker : mostHalf);
      halves = new Float16Array(inside.values);
      count = inside.count;
      error = relativeError(values, halves);
    }
    if (layer !== undefined) layer.error = error;
    if (count > 0 && !isMarker) {
      report.warnings.push(
        `${count} of ${elementCount(tensor.dims)} values of ${tensor.name} were clamped to ±65504.`,
      );
    }
    return new Uint8Array(halves.buffer);
  });
  // A constant that fills a computed shape keeps doing so.
  return tensor.fill === undefined ? half : filledTensor(half, half.bytes().slice(0, 2), tensor.fill.shape);
}
