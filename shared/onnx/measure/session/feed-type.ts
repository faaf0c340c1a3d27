/** Tensor types that a session accepts and returns, by their ONNX names. */
export const feedTypes = [
  'float',
  'double',
  'float16',
  'int8',
  'uint8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'bool',
] as const;
export type FeedType = (typeof feedTypes)[number];

export const isFeedType = (type: string): type is FeedType => feedTypes.some((known) => known === type);

/** Return the kind of an input that no session is fed, in words. */
export const kindText = (type: string): string =>
  ({
    string: 'of texts',
    sequenceType: 'a sequence',
    mapType: 'a map',
    optionalType: 'optional',
    sparseTensorType: 'a sparse tensor',
  })[type] ?? `of type ${type}`;

/** ONNX Runtime's names of these types. */
export const runtimeTypes = {
  float: 'float32',
  double: 'float64',
  float16: 'float16',
  int8: 'int8',
  uint8: 'uint8',
  int16: 'int16',
  uint16: 'uint16',
  int32: 'int32',
  uint32: 'uint32',
  int64: 'int64',
  uint64: 'uint64',
  bool: 'bool',
} as const satisfies Record<FeedType, string>;

export const isFloatType = (type: FeedType): boolean =>
  type === 'float' || type === 'double' || type === 'float16';

/** Convert numbers to ONNX Runtime's array of a type. */
export function typedArray(type: FeedType, numbers: ArrayLike<number>) {
  switch (type) {
    case 'float':
      return Float32Array.from(numbers);
    case 'double':
      return Float64Array.from(numbers);
    case 'float16':
      return new Uint16Array(Float16Array.from(numbers).buffer);
    case 'int8':
      return Int8Array.from(numbers);
    case 'uint8':
      return Uint8Array.from(numbers);
    case 'bool':
      return Uint8Array.from(numbers, (value) => (value === 0 ? 0 : 1));
    case 'int16':
      return Int16Array.from(numbers);
    case 'uint16':
      return Uint16Array.from(numbers);
    case 'int32':
      return Int32Array.from(numbers);
    case 'uint32':
      return Uint32Array.from(numbers);
    case 'int64':
      return BigInt64Array.from(Array.from(numbers, (value) => BigInt(Math.trunc(value))));
    case 'uint64':
      return BigUint64Array.from(Array.from(numbers, (value) => BigInt(Math.trunc(value))));
  }
}

/** View raw little-endian values as ONNX Runtime's array of a type. */
export function typedView(type: FeedType, bytes: Uint8Array) {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  switch (type) {
    case 'float':
      return new Float32Array(buffer, byteOffset, byteLength / 4);
    case 'double':
      return new Float64Array(buffer, byteOffset, byteLength / 8);
    case 'float16':
    case 'uint16':
      return new Uint16Array(buffer, byteOffset, byteLength / 2);
    case 'int8':
      return new Int8Array(buffer, byteOffset, byteLength);
    case 'uint8':
    case 'bool':
      return new Uint8Array(buffer, byteOffset, byteLength);
    case 'int16':
      return new Int16Array(buffer, byteOffset, byteLength / 2);
    case 'int32':
      return new Int32Array(buffer, byteOffset, byteLength / 4);
    case 'uint32':
      return new Uint32Array(buffer, byteOffset, byteLength / 4);
    case 'int64':
      return new BigInt64Array(buffer, byteOffset, byteLength / 8);
    case 'uint64':
      return new BigUint64Array(buffer, byteOffset, byteLength / 8);
  }
}

/** Convert such an array to numbers. Integers above 2^53 lose their last digits. */
export function numbersOf(type: FeedType, values: ReturnType<typeof typedView>): ArrayLike<number> {
  if (type === 'float16') return new Float16Array(values.buffer, values.byteOffset, values.length);
  if (values instanceof BigInt64Array) return Float64Array.from(values, Number);
  if (values instanceof BigUint64Array) return Float64Array.from(values, Number);
  return values;
}
