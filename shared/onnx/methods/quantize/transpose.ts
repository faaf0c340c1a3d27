import { elementCount } from '../../model/tensor/tensor.ts';

/** Dimensions with the last two swapped. */
export const swappedDims = (dims: readonly number[]): number[] => {
  const rank = dims.length;
  return [...dims.slice(0, -2), dims[rank - 1] ?? 1, dims[rank - 2] ?? 1];
};

/** Bytes (row-major, one to a value) with the last two dimensions swapped. */
export function swappedBytes(bytes: Uint8Array, dims: readonly number[]): Uint8Array {
  const rows = dims[dims.length - 2] ?? 1;
  const columns = dims[dims.length - 1] ?? 1;
  const matrices = elementCount(dims.slice(0, -2));
  const swapped = new Uint8Array(bytes.length);
  for (let matrix = 0, at = 0; matrix < matrices; matrix += 1) {
    const start = matrix * rows * columns;
    for (let row = 0; row < rows; row += 1) {
      for (let to = start + row, column = 0; column < columns; column += 1, at += 1, to += rows) {
        swapped[to] = bytes[at] ?? 0;
      }
    }
  }
  return swapped;
}
