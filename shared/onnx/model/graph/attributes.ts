import { create } from '@bufbuild/protobuf';
import {
  type AttributeProto,
  AttributeProtoSchema,
  AttributeProto_AttributeType as AttributeType,
  type NodeProto,
} from '../proto/onnx_pb.js';
import type { ExternalData } from '../tensor/external-data.ts';
import { readTensor, tensorMessage } from '../tensor/read-tensor.ts';
import type { Tensor } from '../tensor/tensor.ts';

export const hasAttribute = (node: NodeProto, name: string): boolean => find(node, name) !== undefined;

const find = (node: NodeProto, name: string): AttributeProto | undefined =>
  node.attribute.find((attribute) => attribute.name === name);

/** Return an integer attribute, or its default. */
export function intAttribute(node: NodeProto, name: string, otherwise: number): number {
  const attribute = find(node, name);
  return attribute === undefined ? otherwise : Number(attribute.i);
}

export function intsAttribute(node: NodeProto, name: string): number[] | undefined {
  return find(node, name)?.ints.map(Number);
}

export function floatAttribute(node: NodeProto, name: string, otherwise: number): number {
  return find(node, name)?.f ?? otherwise;
}

export function stringAttribute(node: NodeProto, name: string, otherwise: string): string {
  const bytes = find(node, name)?.s;
  return bytes === undefined ? otherwise : Buffer.from(bytes).toString('utf8');
}

/** Return the tensor of an attribute, for example of Constant's `value`. */
export function tensorAttribute(node: NodeProto, name: string, external: ExternalData): Tensor | undefined {
  const attribute = find(node, name);
  return attribute === undefined || attribute.t.length === 0 ? undefined : readTensor(attribute.t, external);
}

/** Return a list of numbers; undefined if the node does not have it. */
export const floatsAttribute = (node: NodeProto, name: string): readonly number[] | undefined =>
  find(node, name)?.floats;

/** Value of an attribute. Plain numbers are integers; `{ float }` marks a float. */
export type AttributeValue =
  | number
  | readonly number[]
  | string
  | { float: number }
  | { floats: readonly number[] }
  | { tensor: Tensor };

export function makeAttribute(name: string, value: AttributeValue): AttributeProto {
  const { $typeName: _, $unknown: __, ...content } = contentOf(value);
  return create(AttributeProtoSchema, { name, ...content });
}

function contentOf(value: AttributeValue): Partial<AttributeProto> {
  if (typeof value === 'number') return { type: AttributeType.INT, i: BigInt(value) };
  if (typeof value === 'string') return { type: AttributeType.STRING, s: Buffer.from(value, 'utf8') };
  if ('float' in value) return { type: AttributeType.FLOAT, f: value.float };
  if ('floats' in value) return { type: AttributeType.FLOATS, floats: [...value.floats] };
  if ('tensor' in value) return { type: AttributeType.TENSOR, t: tensorMessage(value.tensor) };
  return { type: AttributeType.INTS, ints: value.map(BigInt) };
}

/** Set an attribute of a node. Replaces an attribute of the same name. */
export function setAttribute(node: NodeProto, name: string, value: AttributeValue): void {
  node.attribute = [
    ...node.attribute.filter((attribute) => attribute.name !== name),
    makeAttribute(name, value),
  ];
}

export function removeAttribute(node: NodeProto, name: string): void {
  node.attribute = node.attribute.filter((attribute) => attribute.name !== name);
}
