import { ModelError } from '../model-error.ts';
import { type ByteSource, sourceOf } from './external-data.ts';
import { elementCount, type Tensor } from './tensor.ts';

/** Whether {@link floatsOf} can read a tensor. */
export const isFloatTensor = ({ type }: Pick<Tensor, 'type'>): boolean =>
  type === 'float' || type === 'double' || type === 'float16' || type === 'bfloat16';

/** Return the values of a floating-point tensor as float32. May be a view of the file; do not write to it. */
export function floatsOf(tensor: Tensor): Float32Array {
  const bytes = tensor.bytes();
  switch (tensor.type) {
    case 'float':
      return view(Float32Array, 4, bytes);
    case 'double':
      return Float32Array.from(view(Float64Array, 8, bytes));
    case 'float16':
      return new Float32Array(view(Float16Array, 2, bytes));
    case 'bfloat16': {
      const wide = Uint32Array.from(view(Uint16Array, 2, bytes), (bits) => bits << 16);
      return new Float32Array(wide.buffer);
    }
    default:
      throw new ModelError(
        `The constant ${tensor.name} must contain floating-point numbers, not ${tensor.type}.`,
      );
  }
}

const view = <T>(
  make: new (buffer: ArrayBufferLike, offset: number, length: number) => T,
  size: number,
  bytes: Uint8Array,
): T => {
  const at = aligned(bytes, size);
  return new make(at.buffer, at.byteOffset, at.byteLength / size);
};

/** Align bytes to a multiple of `size`. Copies them if they are not aligned. */
function aligned(bytes: Uint8Array, size: number): Uint8Array {
  return bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
}

/** Return the values of a floating-point tensor as float32 bytes for reading in parts. */
export const float32Source = (tensor: Tensor): ByteSource =>
  tensor.type === 'float' ? tensor.source() : sourceOf(floatsOf(tensor));

/** Shared buffer for reading tensors; undefined while it is in use. */
let room: Float32Array | undefined = new Float32Array();

/**
 * Call `use` with the values of a floating-point tensor as float32, and return its result. `use` must neither keep
 * nor change them. Reuses memory, because allocating it for every tensor would take longer than the work.
 */
export function withFloats<T>(tensor: Tensor, use: (values: Float32Array) => T): T {
  if (tensor.type !== 'float') return use(floatsOf(tensor));
  const { byteLength, whole, read } = tensor.source();
  if (whole !== undefined && whole.byteOffset % 4 === 0) return use(view(Float32Array, 4, whole));
  const lent = room !== undefined && room.byteLength >= byteLength ? room : new Float32Array(byteLength / 4);
  room = undefined;
  try {
    const values = lent.subarray(0, byteLength / 4);
    read(new Uint8Array(values.buffer, 0, byteLength), 0);
    return use(values);
  } finally {
    room = lent;
  }
}

/**
 * Return the values of an integer or bool tensor as numbers. Throws a {@link ModelError} for more than a million,
 * because shapes, axes and similar constants are short.
 */
export function integersOf(tensor: Tensor): number[] {
  if (elementCount(tensor.dims) > 1e6) throw new ModelError(`The constant ${tensor.name} is too long.`);
  const bytes = tensor.bytes();
  switch (tensor.type) {
    case 'int64':
      return Array.from(view(BigInt64Array, 8, bytes), Number);
    case 'uint64':
      return Array.from(view(BigUint64Array, 8, bytes), Number);
    case 'int32':
      return Array.from(view(Int32Array, 4, bytes));
    case 'uint32':
      return Array.from(view(Uint32Array, 4, bytes));
    case 'int16':
      return Array.from(view(Int16Array, 2, bytes));
    case 'uint16':
      return Array.from(view(Uint16Array, 2, bytes));
    case 'int8':
      return Array.from(view(Int8Array, 1, bytes));
    case 'uint8':
    case 'bool':
      return Array.from(bytes);
    default:
      throw new ModelError(`The constant ${tensor.name} must contain integers, not ${tensor.type}.`);
  }
}
