import type { FeedType } from '../../onnx/measure/session/feed-type.ts';

/** Tensor types of the Open Inference Protocol, by the types of ONNX. */
export const datatypes = {
  bool: 'BOOL',
  uint8: 'UINT8',
  uint16: 'UINT16',
  uint32: 'UINT32',
  uint64: 'UINT64',
  int8: 'INT8',
  int16: 'INT16',
  int32: 'INT32',
  int64: 'INT64',
  float16: 'FP16',
  float: 'FP32',
  double: 'FP64',
  string: 'BYTES',
} as const satisfies Record<FeedType | 'string', string>;

export type Datatype = (typeof datatypes)[keyof typeof datatypes];

/** Return the datatype of an ONNX type; undefined for sequences, maps and types that the protocol lacks. */
export const datatypeOf = (type: string): Datatype | undefined =>
  new Map<string, Datatype>(Object.entries(datatypes)).get(type);

/** Bytes of an element; undefined for BYTES, whose elements have lengths of their own. */
export const elementBytes: Readonly<Record<Datatype, number | undefined>> = {
  BOOL: 1,
  UINT8: 1,
  UINT16: 2,
  UINT32: 4,
  UINT64: 8,
  INT8: 1,
  INT16: 2,
  INT32: 4,
  INT64: 8,
  FP16: 2,
  FP32: 4,
  FP64: 8,
  BYTES: undefined,
};

export const isDatatype = (text: string): text is Datatype => Object.hasOwn(elementBytes, text);

/** A tensor with its elements in row-major order, little-endian; those of BYTES each after its length in 4 bytes. */
export interface RawTensor {
  name: string;
  datatype: Datatype;
  shape: readonly number[];
  bytes: Uint8Array;
}

/** Return the number of elements of a shape. */
export const elementCount = (shape: readonly number[]): number =>
  shape.reduce((count, dim) => count * dim, 1);

/** Return a copy that begins at a multiple of eight, where typed arrays of every element size may begin. */
export const aligned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.byteOffset % 8 === 0 && bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);

/** View the elements of a tensor that is not BYTES. */
export function elementsOf({ datatype, bytes }: Pick<RawTensor, 'datatype' | 'bytes'>) {
  const { buffer, byteOffset, byteLength } = aligned(bytes);
  const length = byteLength / (elementBytes[datatype] ?? 1);
  switch (datatype) {
    case 'BOOL':
    case 'UINT8':
    case 'BYTES':
      return new Uint8Array(buffer, byteOffset, length);
    case 'UINT16':
      return new Uint16Array(buffer, byteOffset, length);
    case 'UINT32':
      return new Uint32Array(buffer, byteOffset, length);
    case 'UINT64':
      return new BigUint64Array(buffer, byteOffset, length);
    case 'INT8':
      return new Int8Array(buffer, byteOffset, length);
    case 'INT16':
      return new Int16Array(buffer, byteOffset, length);
    case 'INT32':
      return new Int32Array(buffer, byteOffset, length);
    case 'INT64':
      return new BigInt64Array(buffer, byteOffset, length);
    case 'FP16':
      return new Float16Array(buffer, byteOffset, length);
    case 'FP32':
      return new Float32Array(buffer, byteOffset, length);
    case 'FP64':
      return new Float64Array(buffer, byteOffset, length);
  }
}

/** Return a tensor of FP16 as one of FP32, which has each of its values. */
export function widened({ name, shape, bytes }: RawTensor): RawTensor {
  const { buffer, byteOffset, byteLength } = aligned(bytes);
  const values = new Float32Array(new Float16Array(buffer, byteOffset, byteLength / 2));
  return { name, datatype: 'FP32', shape, bytes: new Uint8Array(values.buffer) };
}

/** Join elements of BYTES, each after its length. */
export function packBytes(elements: readonly Uint8Array[]): Buffer {
  const parts = elements.flatMap((element) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(element.length);
    return [length, element];
  });
  return Buffer.concat(parts);
}

/** Split elements of BYTES; undefined if their lengths do not add up. */
export function unpackBytes(bytes: Uint8Array): Uint8Array[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const elements: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) return undefined;
    const end = at + 4 + view.getUint32(at, true);
    if (end > bytes.length) return undefined;
    elements.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return elements;
}
