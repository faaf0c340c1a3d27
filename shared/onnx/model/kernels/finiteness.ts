import type { Tensor } from '../tensor/tensor.ts';
import { float32Source } from '../tensor/values.ts';
import { kernels, partsOf, place } from './kernels.ts';

/**
 * Checks that tensors of floating-point type hold neither NaN nor infinity as float32, each once for all its users.
 * One that does hold them cannot be quantized, nor pruned by magnitude, without NaN becoming a number.
 */
export function finiteness(): (tensor: Tensor) => boolean {
  const known = new Map<Tensor, boolean>();
  return (tensor) => {
    const is = known.get(tensor) ?? look(tensor);
    known.set(tensor, is);
    return is;
  };
}

function look(tensor: Tensor): boolean {
  const { widenByRun } = kernels();
  for (const { end } of partsOf(float32Source(tensor))) {
    // 0 unless there is NaN or infinity; the range itself is of no interest.
    if (widenByRun(place.values, end, place.first) !== 0) return false;
  }
  return true;
}
