import { intAttribute } from '../../../model/graph/attributes.ts';
import { makeNode } from '../../../model/graph/graph.ts';
import type { WeightForm } from '../weight-store.ts';
import { type DynamicGraph, type DynamicRule, notFinite } from './dynamic-graph.ts';

/**
 * Gather in a constant table, as embeddings are: the table is kept in 8 bits, and the rows that were looked up are made
 * float. A scale for each column costs nothing more, and follows columns of unlike size.
 */
export const quantizeGather: DynamicRule = (dynamic, node) => {
  const constant = dynamic.weight(node.input[0]);
  if (typeof constant === 'string') return constant;
  const { dims } = constant.tensor;
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

/** DequantizeLinear takes an axis since this operator set. */
const minOpsetPerColumn = 13;

/**
 * How a table is quantized: with a scale for each column, or one for all as ONNX Runtime's quantizer does, which gives
 * tables the type of activations. No product sums its values, so they need no reduced range.
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
