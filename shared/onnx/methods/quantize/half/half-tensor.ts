import { kernels, partsOf, place } from '../../../model/kernels/kernels.ts';
import type { ByteSource } from '../../../model/tensor/external-data.ts';
import { elementCount, filledTensor, lazyTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { float32Source, floatsOf } from '../../../model/tensor/values.ts';
import type { LayerChange, TransformReport } from '../../report/report.ts';

/** Largest finite number of half precision. */
export const mostHalf = 65504;

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
 * Return the halves of a tensor with ‖h − v‖ / ‖v‖, if all its values are finite and in half precision, else undefined.
 * Most constants are.
 */
function roundedHalves(source: ByteSource): { bytes: Uint8Array; error: number } | undefined {
  const { bytes: room, sums, roundToHalves } = kernels();
  const bytes = new Uint8Array(source.byteLength / 2);
  sums.fill(0);
  for (const { from, end, padded } of partsOf(source)) {
    if (roundToHalves(place.values, padded, place.sums) > mostHalf) return undefined;
    bytes.set(room.subarray(place.values, place.values + (end - place.values) / 2), from / 2);
  }
  const [error = 0, alsoError = 0, norm = 0, alsoNorm = 0] = sums;
  const [lost, size] = [error + alsoError, norm + alsoNorm];
  // Of values that are not numbers, the sums are not, either.
  return Number.isFinite(lost) ? { bytes, error: size === 0 ? 0 : Math.sqrt(lost / size) } : undefined;
}

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
    const plain = roundedHalves(float32Source(tensor));
    if (plain !== undefined) {
      if (layer !== undefined) layer.error = plain.error;
      return plain.bytes;
    }
    const values = floatsOf(tensor);
    const inside = clamped(values, isMarker ? marker : mostHalf);
    const halves = new Float16Array(inside.values);
    const { count } = inside;
    if (layer !== undefined) layer.error = relativeError(values, halves);
    if (count > 0 && !isMarker) {
      report.warnings.push(
        `${count} of ${elementCount(tensor.dims)} values of ${tensor.name} were clamped to ±65504.`,
      );
    }
    return halves;
  });
  // A constant that fills a computed shape keeps doing so.
  return tensor.fill === undefined ? half : filledTensor(half, half.bytes().slice(0, 2), tensor.fill.shape);
}
