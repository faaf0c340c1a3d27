import { byteLengthOf, type DataTypeName } from './data-type.ts';
import { type ByteSource, sourceOf } from './external-data.ts';

/**
 * A constant of a model. Its bytes are read or computed on request and not kept, so a model of any size can be
 * processed one tensor after the other.
 */
export interface Tensor {
  readonly name: string;
  readonly type: DataTypeName;
  readonly dims: readonly number[];
  /**
   * Return the `byteLength` raw bytes, little-endian and row-major. May be a view of the file; do not write to it.
   */
  bytes(): Uint8Array;
  /** Return the same bytes for reading in parts. */
  source(): ByteSource;
  readonly byteLength: number;
  /** The original TensorProto of a string tensor, which has no raw form. */
  readonly verbatim?: Uint8Array;
  /**
   * For a constant that a node computes from a shape: the bytes of its single value, and the name of the shape in
   * the source.
   */
  readonly fill?: { readonly value: Uint8Array; readonly shape: string };
  /** For a sparse constant: its values, and their places. Those of another shape than `dims` have no sparse form. */
  readonly sparse?: { readonly values: Tensor; readonly places: Tensor; readonly dims: readonly number[] };
}

/** Number of values of a tensor of these dimensions; 1 for a scalar. */
export const elementCount = (dims: readonly number[]): number =>
  dims.reduce((product, dim) => product * dim, 1);

/** Create a tensor whose values `make` computes at each request, as an array of their type or as bytes. */
export function lazyTensor(
  name: string,
  type: DataTypeName,
  dims: readonly number[],
  make: () => ArrayBufferView,
): Tensor {
  const byteLength = byteLengthOf(type, elementCount(dims));
  const bytes = (): Uint8Array => {
    const values = make();
    const made = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    if (made.byteLength !== byteLength) {
      throw new Error(`tensor ${name} must have ${byteLength} bytes, not ${made.byteLength}`);
    }
    return made;
  };
  return { name, type, dims, byteLength, bytes, source: () => sourceOf(bytes()) };
}

/** Create a tensor of a single value, which is computed from its shape on reading. */
export const filledTensor = (tensor: Tensor, value: Uint8Array, shape: string): Tensor => ({
  ...tensor,
  fill: { value, shape },
});

/** Create a tensor with its bytes in a source. */
export function sourceTensor(
  name: string,
  type: DataTypeName,
  dims: readonly number[],
  source: ByteSource,
): Tensor {
  const { byteLength } = source;
  const bytes = (): Uint8Array => {
    const read = new Uint8Array(byteLength);
    source.read(read, 0);
    return read;
  };
  return { name, type, dims, byteLength, bytes, source: () => source };
}

/** Create a tensor of these values without copying them. */
export const makeTensor = (
  name: string,
  type: DataTypeName,
  dims: readonly number[],
  values: ArrayBufferView,
): Tensor => lazyTensor(name, type, dims, () => values);

/** Create a one-dimensional int64 constant, for example a shape or axes. */
export const makeInt64s = (name: string, values: readonly number[]): Tensor =>
  makeTensor(name, 'int64', [values.length], BigInt64Array.from(values, BigInt));

/** Return the same values in another shape with the same number of elements. */
export const reshaped = (tensor: Tensor, dims: readonly number[]): Tensor => ({ ...tensor, dims });
