import { intAttribute } from '../../../model/graph/attributes.ts';
import { makeNode } from '../../../model/graph/graph.ts';
import type { WeightForm } from '../weight-store.ts';
import { type DynamicGraph, type DynamicRule, notFinite } from './dynamic-graph.ts';

/**
 * Quantize a Gather in a constant table, such as an embedding. The table is stored in 8 bits, and the selected
 * rows are dequantized. A scale for each column costs no more, and adapts to columns of different size.
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
