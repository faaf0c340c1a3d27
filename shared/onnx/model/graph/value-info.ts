import { create } from '@bufbuild/protobuf';
import {
  TensorShapeProto_DimensionSchema,
  TensorShapeProtoSchema,
  TypeProto_TensorSchema,
  TypeProtoSchema,
  type ValueInfoProto,
  ValueInfoProtoSchema,
} from '../proto/onnx_pb.js';
import { type DataTypeName, dataTypeName, dataTypes } from '../tensor/data-type.ts';

/** A dimension: its size, its symbolic name, or null if unknown. */
export type Dim = number | string | null;

/** Type and shape of a value; `dims` is undefined if the rank is unknown. */
export interface ValueType {
  type: DataTypeName;
  dims: readonly Dim[] | undefined;
}

/** Build the declaration of a tensor value. */
export function valueInfoOf({ name, type, dims }: ValueType & { name: string }): ValueInfoProto {
  const shape = dims && create(TensorShapeProtoSchema, { dim: dims.map(dimension) });
  const tensor = create(TypeProto_TensorSchema, { elemType: dataTypes[type], ...(shape && { shape }) });
  return create(ValueInfoProtoSchema, {
    name,
    type: create(TypeProtoSchema, { value: { case: 'tensorType', value: tensor } }),
  });
}

const dimension = (dim: Dim) =>
  create(TensorShapeProto_DimensionSchema, {
    value:
      typeof dim === 'number'
        ? { case: 'dimValue', value: BigInt(dim) }
        : typeof dim === 'string'
          ? { case: 'dimParam', value: dim }
          : { case: undefined },
  });

/** Return type and shape of a declared value; undefined if it is not a tensor. */
export function valueTypeOf({ type: declared }: ValueInfoProto): ValueType | undefined {
  if (declared?.value.case !== 'tensorType') return undefined;
  const { elemType, shape } = declared.value.value;
  const type = dataTypeName(elemType);
  if (type === undefined) return undefined;
  const dims = shape?.dim.map(({ value }): Dim => {
    if (value.case === 'dimValue') return Number(value.value);
    return value.case === 'dimParam' && value.value !== '' ? value.value : null;
  });
  return { type, dims };
}
