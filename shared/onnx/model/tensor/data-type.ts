/** Codes of TensorProto.DataType. */
export const dataTypes = {
  float: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  string: 8,
  bool: 9,
  float16: 10,
  double: 11,
  uint32: 12,
  uint64: 13,
  complex64: 14,
  complex128: 15,
  bfloat16: 16,
  float8e4m3fn: 17,
  float8e4m3fnuz: 18,
  float8e5m2: 19,
  float8e5m2fnuz: 20,
  uint4: 21,
  int4: 22,
  float4e2m1: 23,
  float8e8m0: 24,
  uint2: 25,
  int2: 26,
} as const;

export type DataTypeName = keyof typeof dataTypes;

const names = new Map(
  Object.entries(dataTypes).map(([name, code]) => [code as number, name as DataTypeName]),
);

/** Return the name of a TensorProto.DataType code; undefined for a code that no release defines. */
export const dataTypeName = (code: number): DataTypeName | undefined => names.get(code);

/** Return the raw bytes of `elements` values. Types below a byte are packed, and the last byte is padded. */
export const byteLengthOf = (type: DataTypeName, elements: number): number =>
  Math.ceil((elements * bits[type]) / 8);

const bits: Readonly<Record<DataTypeName, number>> = {
  float: 32,
  uint8: 8,
  int8: 8,
  uint16: 16,
  int16: 16,
  int32: 32,
  int64: 64,
  string: 0,
  bool: 8,
  float16: 16,
  double: 64,
  uint32: 32,
  uint64: 64,
  complex64: 64,
  complex128: 128,
  bfloat16: 16,
  float8e4m3fn: 8,
  float8e4m3fnuz: 8,
  float8e5m2: 8,
  float8e5m2fnuz: 8,
  uint4: 4,
  int4: 4,
  float4e2m1: 4,
  float8e8m0: 8,
  uint2: 2,
  int2: 2,
};

/** Bits of one value; 0 for strings, which have no raw form. */
export const bitsOf = (type: DataTypeName): number => bits[type];
