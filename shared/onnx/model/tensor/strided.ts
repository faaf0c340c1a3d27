import { bitsOf } from './data-type.ts';
import { elementCount, lazyTensor, type Tensor } from './tensor.ts';

/**
 * Return values of a tensor in another order: from the value at `start` on, `steps` values further along each axis
 * of `dims`. Each read picks them again. The type has whole bytes.
 */
export function strided(tensor: Tensor, { name = tensor.name, dims, steps, start = 0 }: Strided): Tensor {
  const width = bitsOf(tensor.type) / 8;
  return lazyTensor(name, tensor.type, dims, () => {
    const from = tensor.bytes();
    const to = new Uint8Array(elementCount(dims) * width);
    const place = dims.map(() => 0);
    let source = start * width;
    for (let at = 0; at < to.length; at += width) {
      for (let byte = 0; byte < width; byte += 1) to[at + byte] = from[source + byte] ?? 0;
      for (let axis = dims.length - 1; axis >= 0; axis -= 1) {
        const step = (steps[axis] ?? 0) * width;
        const next = (place[axis] ?? 0) + 1;
        source += step;
        place[axis] = next;
        if (next < (dims[axis] ?? 1)) break;
        source -= next * step;
        place[axis] = 0;
      }
    }
    return to;
  });
}

interface Strided {
  name?: string;
  dims: readonly number[];
  steps: readonly number[];
  start?: number;
}

/** Return how many values lie between neighbours along each axis. */
export const stepsOf = (dims: readonly number[]): number[] =>
  dims.map((_, axis) => elementCount(dims.slice(axis + 1)));

/** Return a tensor with its axes in another order. */
export function transposed(tensor: Tensor, perm: readonly number[], name = tensor.name): Tensor {
  const own = stepsOf(tensor.dims);
  return strided(tensor, {
    name,
    dims: perm.map((axis) => tensor.dims[axis] ?? 1),
    steps: perm.map((axis) => own[axis] ?? 0),
  });
}
