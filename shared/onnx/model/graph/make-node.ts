import { create } from '@bufbuild/protobuf';
import { type NodeProto, NodeProtoSchema } from '../proto/onnx_pb.js';
import { type AttributeValue, makeAttribute } from './attributes.ts';

/** A node of an operator; `domain` is '' for ONNX's own and `com.microsoft` for ONNX Runtime's. */
export function makeNode(
  op_type: string,
  input: readonly string[],
  output: readonly string[],
  {
    name = '',
    domain = '',
    attributes = {},
  }: { name?: string; domain?: string; attributes?: Readonly<Record<string, AttributeValue>> } = {},
): NodeProto {
  return create(NodeProtoSchema, {
    opType: op_type,
    input: [...input],
    output: [...output],
    name,
    domain,
    attribute: Object.entries(attributes).map(([key, value]) => makeAttribute(key, value)),
  });
}
