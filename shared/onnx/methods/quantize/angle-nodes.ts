import type { Model } from '../../model/file/model.ts';
import type { Graph } from '../../model/graph/graph.ts';
import { inferValues } from '../../model/infer/infer-values.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount } from '../../model/tensor/tensor.ts';

const waves: ReadonlySet<string> = new Set(['Sin', 'Cos', 'Tan']);

/** Operators from positions or times to the angles of their encoding. */
const encoding: ReadonlySet<string> = new Set([
  ...['Range', 'Cast', 'Add', 'Sub', 'Mul', 'Div', 'Neg', 'Exp', 'Pow', 'Reciprocal', 'MatMul', 'Einsum'],
  ...['Concat', 'Slice', 'Split', 'Gather', 'Expand', 'Tile', 'Where'],
  ...['Identity', 'Transpose', 'Reshape', 'Flatten', 'Squeeze', 'Unsqueeze'],
]);

/** Most values of a constant of an encoding. Larger ones are weights of layers. */
const maxValues = 2 ** 16;

/**
 * Return the nodes that compute the sines of an encoding from inputs, whole numbers and small constants. An angle above
 * some hundred has lost its fraction in half precision, which has no whole number between 2048 and 2050, and in 8 bits
 * it is off by whole turns.
 */
export function angleNodes(graph: Graph, isFloat: (name: string) => boolean): ReadonlySet<NodeProto> {
  const known = new Set(['', ...graph.inputs.map(({ name }) => name)]);
  const isKnown = (name: string): boolean => {
    const constant = graph.initializer(name);
    return constant === undefined
      ? known.has(name) || !isFloat(name)
      : elementCount(constant.dims) <= maxValues;
  };
  for (const { opType, input, output } of graph.nodes)
    if (encoding.has(opType) && input.every(isKnown)) for (const name of output) known.add(name);
  const angles = new Set<string>();
  const encoders = new Set<NodeProto>();
  for (const node of graph.nodes.toReversed()) {
    const isWave = waves.has(node.opType) && isKnown(node.input[0] ?? '');
    if (!isWave && !node.output.some((name) => angles.has(name) && known.has(name))) continue;
    encoders.add(node);
    for (const name of node.input) angles.add(name);
  }
  return encoders;
}

/** Why these nodes stay in float32. */
export const ofAngles = 'it computes angles, whose fractions need float32';

/** Return the same nodes of the main graph of a model. */
export function anglesOf(model: Model): ReadonlySet<NodeProto> {
  if (!model.graph.nodes.some(({ opType }) => waves.has(opType))) return new Set();
  const values = inferValues(model);
  return angleNodes(model.graph, (name) => values.get(name)?.type === 'float');
}
