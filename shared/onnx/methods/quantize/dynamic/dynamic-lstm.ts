import { microsoft } from '../../../model/file/model.ts';
import { intAttribute, removeAttribute } from '../../../model/graph/attributes.ts';
import { makeNode } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { OwnedConstant, WeightForm } from '../weight-store.ts';
import { type DynamicGraph, type DynamicRule, notFinite } from './dynamic-graph.ts';

/**
 * Replace LSTM by ONNX Runtime's DynamicQuantizeLSTM. Its last inputs are the scales and zero points of both
 * weights.
 */
export const quantizeLstm: DynamicRule = (dynamic, node: NodeProto) => {
  if (intAttribute(node, 'layout', 0) !== 0) return 'the quantized LSTM has no layout 1';
  const input = dynamic.weight(node.input[1]);
  const recurrent = dynamic.weight(node.input[2]);
  if (typeof input === 'string') return input;
  if (typeof recurrent === 'string') return recurrent;
  if (input.tensor.dims.length !== 3 || recurrent.tensor.dims.length !== 3) {
    return 'its weights do not have three dimensions';
  }
  const w = dynamic.weights.quantized(input, formOf(dynamic, input), node);
  const r = dynamic.weights.quantized(recurrent, formOf(dynamic, recurrent), node);
  if (w === undefined || r === undefined) return notFinite;
  const others = Array.from({ length: 5 }, (_, at) => node.input[3 + at] ?? '');
  const inputs = [node.input[0] ?? '', w.weight, r.weight, ...others];
  const made = makeNode(
    'DynamicQuantizeLSTM',
    [...inputs, w.scale, w.zeroPoint, r.scale, r.zeroPoint],
    node.output,
    { name: node.name, domain: microsoft },
  );
  made.attribute = node.attribute;
  removeAttribute(made, 'layout');
  dynamic.nodes.push(made);
  return undefined;
};

/**
 * Return the form of weights [directions, 4·hidden, input] for DynamicQuantizeLSTM: int8 without zero point for
 * every requested type, a scale for each direction or for each row of each direction, and the last two axes
 * swapped.
 */
function formOf({ request }: DynamicGraph, { tensor }: OwnedConstant): WeightForm {
  const [directions = 0, rows = 0, columns = 0] = tensor.dims;
  const perRow = request.per_channel;
  return {
    type: 'int8',
    symmetric: true,
    reduced: request.reduce_range,
    axis: 0,
    swapped: true,
    scaleDims: perRow ? [directions, rows] : [directions],
    ...(perRow && { viewed: [directions * rows, columns] }),
  };
}
