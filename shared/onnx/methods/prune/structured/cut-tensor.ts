import { bitsOf } from '../../../model/tensor/data-type.ts';
import { elementCount, lazyTensor, type Tensor } from '../../../model/tensor/tensor.ts';

/** The remaining positions of an axis, in order. */
export interface AxisCut {
  axis: number;
  places: readonly number[];
}

/** Bytes of a tensor without the places of one axis that go. */
function cutBytes(
  bytes: Uint8Array,
  dims: readonly number[],
  width: number,
  { axis, places }: AxisCut,
): Uint8Array {
  const size = dims[axis] ?? 0;
  const outer = elementCount(dims.slice(0, axis));
  const run = elementCount(dims.slice(axis + 1)) * width;
  const left = new Uint8Array(outer * places.length * run);
  let to = 0;
  for (let row = 0; row < outer; row += 1) {
    for (const place of places) {
      const from = (row * size + place) * run;
      if (run <= 8) for (let at = 0; at < run; at += 1) left[to + at] = bytes[from + at] ?? 0;
      else left.set(bytes.subarray(from, from + run), to);
      to += run;
    }
  }
  return left;
}

/** The tensor with only these places of its axes, under another name; cut each time it is read. */
export function cutTensor(tensor: Tensor, name: string, cuts: readonly AxisCut[]): Tensor {
  const width = bitsOf(tensor.type) / 8;
  const shapes = [tensor.dims];
  for (const { axis, places } of cuts) shapes.push((shapes.at(-1) ?? []).with(axis, places.length));
  return lazyTensor(name, tensor.type, shapes.at(-1) ?? [], () =>
    cuts.reduce((bytes, cut, at) => cutBytes(bytes, shapes[at] ?? [], width, cut), tensor.bytes()),
  );
}
