import { byteLengthOf, type DataTypeName } from './data-type.ts';
import { type ByteSource, sourceOf } from './external-data.ts';

/**
 * A constant of a model. Its bytes are read or computed when they are asked for and not kept, so that a model of any
 * size is worked through one tensor after the other.
 */
export interface Tensor {
  readonly name: string;
  readonly type: DataTypeName;
  readonly dims: readonly number[];
  /** Raw little-endian bytes, row-major: `byteLength` of them. May be a view of the file; not to be written to. */
  bytes(): Uint8Array;
  /** The same bytes, to be read in parts. */
  source(): ByteSource;
  readonly byteLength: number;
  /** For strings, which have no raw form: the TensorProto as it was read. */
  readonly verbatim?: Uint8Array;
  /** Of a constant that a node makes of its shape: the bytes of its one value, and the name of the shape in the source. */
  readonly fill?: { readonly value: Uint8Array; readonly shape: string };
}

/** Number of values of a tensor of these dimensions; 1 for a scalar. */
export const elementCount = (dims: readonly number[]): number =>
  dims.reduce((product, dim) => product * dim, 1);

/** A tensor whose bytes `make` gives each time they are asked for. */
export function lazyTensor(
  name: string,
  type: DataTypeName,
  dims: readonly number[],
  make: () => Uint8Array,
): Tensor {
  const byteLength = byteLengthOf(type, elementCount(dims));
  const bytes = (): Uint8Array => {
    const made = make();
    if (made.byteLength !== byteLength) {
      throw new Error(`tensor ${name} must have ${byteLength} bytes, not ${made.byteLength}`);
    }
    return made;
  };
  return { name, type, dims, byteLength, bytes, source: () => sourceOf(bytes()) };
}

/** A tensor of one value throughout, which is made of its shape when it is read. */
export const filledTensor = (tensor: Tensor, value: Uint8Array, shape: string): Tensor => ({
  ...tensor,
  fill: { value, shape },
});

/** A tensor whose bytes lie elsewhere. */
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

/** A tensor of these values, which are not copied. */
export function makeTensor(
  name: string,
  type: DataTypeName,
  dims: readonly number[],
  values: ArrayBufferView,
): Tensor {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return lazyTensor(name, type, dims, () => bytes);
}

/** A one-dimensional int64 constant, as shapes and axes are. */
export const makeInt64s = (name: string, values: readonly number[]): Tensor =>
  makeTensor(name, 'int64', [values.length], BigInt64Array.from(values, BigInt));

/** The same values in another shape with as many elements. */
export const reshaped = (tensor: Tensor, dims: readonly number[]): Tensor => ({ ...tensor, dims });
