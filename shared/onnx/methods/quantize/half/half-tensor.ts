import { elementCount, filledTensor, lazyTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import type { LayerChange, TransformReport } from '../../report/report.ts';

/** Largest finite number of half precision. */
const mostHalf = 65504;

/** What stands for infinity in half precision, so that what is added to it stays finite. */
const marker = 1e4;

/** Finite values beyond half precision brought to an end, and how many; infinities mean something, as in masks. */
function clamped(values: Float32Array, end: number): { values: Float32Array; count: number } {
  const isBeyond = (value: number): boolean => Math.abs(value) > mostHalf && Number.isFinite(value);
  const count = values.reduce((sum, value) => (isBeyond(value) ? sum + 1 : sum), 0);
  if (count === 0) return { values, count };
  return { values: values.map((value) => (isBeyond(value) ? Math.sign(value) * end : value)), count };
}

/** ‖h − v‖ / ‖v‖ over the finite values. */
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
 * A float32 constant in half precision, rounded half to even, clamped to ±65504, or to ±10,000 where it stands for
 * infinity; computed when it is written.
 */
export function halfTensor(
  tensor: Tensor,
  name: string,
  report: TransformReport,
  { layer, isMarker }: { layer: LayerChange | undefined; isMarker: boolean },
): Tensor {
  const half = lazyTensor(name, 'float16', tensor.dims, () => {
    const values = floatsOf(tensor);
    const { values: kept, count } = clamped(values, isMarker ? marker : mostHalf);
    const halves = new Float16Array(kept);
    if (layer !== undefined) layer.error = relativeError(values, halves);
    if (count > 0 && !isMarker) {
      report.warnings.push(
        `${count} of ${elementCount(tensor.dims)} values of ${tensor.name} were clamped to ±65504.`,
      );
    }
    return new Uint8Array(halves.buffer);
  });
  // What was made of its shape still is.
  return tensor.fill === undefined ? half : filledTensor(half, half.bytes().slice(0, 2), tensor.fill.shape);
}
