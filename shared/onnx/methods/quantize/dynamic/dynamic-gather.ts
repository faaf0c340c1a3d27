import { type AttributeValue, intAttribute } from '../../../model/graph/attributes.ts';
import { makeNode } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { dataTypes } from '../../../model/tensor/data-type.ts';
import { makeInt64s } from '../../../model/tensor/tensor.ts';
import type { OwnedConstant, WeightForm } from '../weight-store.ts';
import { type DynamicGraph, type DynamicRule, notFinite } from './dynamic-graph.ts';

/**
 * Quantize a Gather in a constant table, such as an embedding. The table is stored in 8 bits, and the selected
 * rows are dequantized. A scale for each column costs no more, and adapts to columns of different size.
 */
export const quantizeGather: DynamicRule = (dynamic, node) => {
  const constant = dynamic.weight(node.input[0]);
  if (typeof constant === 'string') return constant;
  const { dims } = constant.tensor;
  if (dynamic.tied.has(constant.tensor)) return quantizeTied(dynamic, constant, node);
  const given = intAttribute(node, 'axis', 0);
  const form = formOf(dynamic, dims, given < 0 ? given + dims.length : given);
  const table = dynamic.weights.quantized(constant, form, node);
  if (table === undefined) return notFinite;
  const [output = ''] = node.output;
  const rows = dynamic.names.make(`${output}_quantized`);
  const float = makeNode('DequantizeLinear', [rows, table.scale, table.zeroPoint], [output], {
    name: dynamic.names.make(`${output}_DequantizeLinear`),
    ...(form.axis !== undefined && { attributes: { axis: -1 } }),
  });
  node.input[0] = table.weight;
  node.output[0] = rows;
  dynamic.nodes.push(node, float);
  return undefined;
};

/** Return the form of a tied table. As the weight of its product, it has a scale for each output: each row. */
export const tiedForm = ({ mapping, request }: DynamicGraph): WeightForm => ({
  ...mapping,
  axis: request.per_channel ? 0 : undefined,
});

/** Quantize a Gather in a tied table. Rows with scales of their own are multiplied with those of the same rows. */
function quantizeTied(dynamic: DynamicGraph, constant: OwnedConstant, node: NodeProto): string | undefined {
  const { names, nodes } = dynamic;
  const table = dynamic.weights.quantized(constant, tiedForm(dynamic), node);
  if (table === undefined) return notFinite;
  const [output = ''] = node.output;
  if (!dynamic.request.per_channel) {
    const rows = names.make(`${output}_quantized`);
    node.input[0] = table.weight;
    node.output[0] = rows;
    const inputs = [rows, table.scale, table.zeroPoint];
    const options = { name: names.make(`${output}_DequantizeLinear`) };
    nodes.push(node, makeNode('DequantizeLinear', inputs, [output], options));
    return undefined;
  }
  const [, indices = ''] = node.input;
  const last = constant.owner.put(makeInt64s(names.make(`${output}_axis`), [-1])).name;
  const step = (
    operator: string,
    inputs: string[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
  ): string => {
    const made = names.make(`${output}_${operator}`);
    nodes.push(makeNode(operator, inputs, [made], { name: made, attributes }));
    return made;
  };
  const toFloat = (name: string): string => step('Cast', [name], { to: dataTypes.float });
  /** Return the looked up values of a vector, with an axis for the columns. */
  const column = (name: string): string => {
    const looked = step('Gather', [name, indices]);
    return dynamic.opset >= minOpsetPerColumn
      ? step('Unsqueeze', [looked, last])
      : step('Unsqueeze', [looked], { axes: [-1] });
  };
  const levels = toFloat(step('Gather', [table.weight, indices]));
  const { symmetric } = dynamic.mapping;
  const centred = symmetric ? levels : step('Sub', [levels, toFloat(column(table.zeroPoint))]);
  const { name } = node;
  nodes.push(makeNode('Mul', [centred, column(table.scale)], [output], { name }));
  return undefined;
}

/** First opset in which DequantizeLinear has an axis. */
const minOpsetPerColumn = 13;

/**
 * Return the form of a quantized table: a scale for each column, or one for all. With one scale, a table has the
 * type of activations, as in ONNX Runtime's quantizer. No product sums the values of a table, so they need no
 * reduced range.
 */
function formOf(
  { request, mapping, opset }: DynamicGraph,
  dims: readonly number[],
  axis: number,
): WeightForm {
  const column = dims.length - 1;
  const isPerColumn = request.per_channel && opset >= minOpsetPerColumn && dims.length > 1 && axis !== column;
  return isPerColumn
    ? { ...mapping, reduced: false, axis: column }
    : { type: 'uint8', symmetric: false, reduced: false, axis: undefined };
}
