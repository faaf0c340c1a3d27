import type { Tensor } from '../tensor/tensor.ts';
import { float32Source } from '../tensor/values.ts';
import { kernels, partsOf, place } from './kernels.ts';

/**
 * Return a check that floating-point tensors contain neither NaN nor infinity as float32. It checks each tensor
 * once. Quantization or magnitude pruning of such a tensor would turn NaN into a number.
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
    // The result is 0 unless there is NaN or infinity. The range is not used.
    if (widenByRun(place.values, end, place.first) !== 0) return false;
  }
  return true;
}
