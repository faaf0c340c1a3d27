import { microsoft } from '../../../model/file/model.ts';
import { hasAttribute } from '../../../model/graph/attributes.ts';
import { makeNode } from '../../../model/graph/graph.ts';
import { type DynamicRule, notFinite } from './dynamic-graph.ts';

/** Attributes of Attention that QAttention lacks. */
const unknownAttributes = ['qkv_hidden_sizes', 'rotary_embedding_dim'] as const;

/** Replace ONNX Runtime's Attention by its QAttention. */
export const quantizeAttention: DynamicRule = (dynamic, node) => {
  const [input = '', weightName, bias = '', mask = '', past = '', ...others] = node.input;
  const attribute = unknownAttributes.find((name) => hasAttribute(node, name));
  if (attribute !== undefined) return `the quantized Attention has no ${attribute}`;
  if (others.some((name) => name !== '')) return 'the quantized Attention has no attention bias';
  if (bias === '') return 'the quantized Attention needs a bias';
  const constant = dynamic.weight(weightName);
  if (typeof constant === 'string') return constant;
  if (constant.tensor.dims.length !== 2) return 'its weight does not have two dimensions';
  const form = { ...dynamic.mapping, axis: dynamic.request.per_channel ? 1 : undefined };
  const weight = dynamic.weights.quantized(constant, form, node);
  if (weight === undefined) return notFinite;
  const { value, scale, zeroPoint } = dynamic.activation(input);
  const inputs = [
    ...[value, weight.weight, bias],
    ...[scale, weight.scale, mask],
    ...[zeroPoint, weight.zeroPoint, past],
  ];
  const made = makeNode('QAttention', inputs, node.output, { name: node.name, domain: microsoft });
  made.attribute = node.attribute;
  dynamic.nodes.push(made);
  return undefined;
};
