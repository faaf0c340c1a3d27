/** Values that lie with the first index running fastest, laid out with the last one running fastest. */
export function inCOrder(bytes: Uint8Array, dims: readonly number[], width: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  const strides = dims.map((_, axis) => dims.slice(0, axis).reduce((product, dim) => product * dim, 1));
  const index = dims.map(() => 0);
  let from = 0;
  for (let to = 0; to < out.length; to += width) {
    for (let byte = 0; byte < width; byte += 1) out[to + byte] = bytes[from * width + byte] ?? 0;
    for (let axis = dims.length - 1; axis >= 0; axis -= 1) {
      const [at = 0, stride = 0, dim = 0] = [index[axis], strides[axis], dims[axis]];
      from += stride;
      index[axis] = at + 1;
      if (at + 1 < dim) break;
      from -= stride * dim;
      index[axis] = 0;
    }
  }
  return out;
}

/** Values of the other byte order. */
export function swapBytes(bytes: Uint8Array, width: number): Uint8Array {
  const out = Buffer.from(bytes);
  if (width === 2) out.swap16();
  if (width === 4) out.swap32();
  if (width === 8) out.swap64();
  return out;
}
