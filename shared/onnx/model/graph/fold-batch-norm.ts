import type { NodeProto } from '../proto/onnx_pb.js';
import { elementCount, lazyTensor, makeTensor, type Tensor } from '../tensor/tensor.ts';
import { floatsOf } from '../tensor/values.ts';
import { floatAttribute, intAttribute } from './attributes.ts';
import { type Graph, Names } from './graph.ts';
import { GraphIndex } from './graph-index.ts';

/**
 * Fold a BatchNormalization into its Conv if it is the only user of the Conv's output and the weight is constant.
 * The function stays the same with one operator less. Return the number of folded nodes. Weights are scaled in
 * double precision when they are written.
 */
export function foldBatchNorms({ graph }: { readonly graph: Graph }): number {
  const index = new GraphIndex(graph);
  const names = new Names(graph);
  const gone = new Set<NodeProto>();
  for (const norm of graph.nodes) {
    if (norm.opType !== 'BatchNormalization' || norm.domain !== '') continue;
    const conv = index.producer(norm.input[0] ?? '');
    if (conv?.opType !== 'Conv' || conv.domain !== '') continue;
    if (index.soleUse(conv.output[0] ?? '')?.node !== norm) continue;
    // Old models list training statistics as outputs, which nobody uses.
    if (norm.output.slice(1).some((name) => name !== '' && index.uses(name).length > 0)) continue;
    if (foldInto(graph, names, conv, norm)) gone.add(norm);
  }
  graph.nodes = graph.nodes.filter((node) => !gone.has(node));
  return gone.size;
}

function foldInto(graph: Graph, names: Names, conv: NodeProto, norm: NodeProto): boolean {
  const weight = floatConstant(graph, conv.input[1]);
  const bias = conv.input[2] ? floatConstant(graph, conv.input[2]) : undefined;
  const normalization = normalizationOf(graph, norm);
  if (weight === undefined || normalization === undefined || (conv.input[2] && bias === undefined))
    return false;
  const { factor, offset } = normalization;
  if (weight.dims[0] !== factor.length) return false;
  const before = bias && floatsOf(bias);
  const folded = Float32Array.from(offset, (value, at) => value + (before?.[at] ?? 0) * (factor[at] ?? 0));
  const scaled = graph.put(scaledWeight(weight, names.make(`${weight.name}_folded`), factor));
  const shifted = graph.put(makeTensor(names.make(`${scaled.name}_bias`), 'float', [folded.length], folded));
  conv.input = [conv.input[0] ?? '', scaled.name, shifted.name];
  // A request may exclude the Conv by the name of its output. Keep that name valid.
  conv.name ||= conv.output[0] ?? '';
  conv.output = [norm.output[0] ?? ''];
  return true;
}

const floatConstant = (graph: Graph, name: string | undefined): Tensor | undefined => {
  const tensor = graph.initializers.get(name ?? '');
  return tensor?.type === 'float' ? tensor : undefined;
};

interface Normalization {
  /** Factor and offset of each channel: y = factor · x + offset. */
  factor: Float64Array;
  offset: Float64Array;
}

/** Return the factor and offset of each channel of a BatchNormalization with constant statistics. */
function normalizationOf(graph: Graph, node: NodeProto): Normalization | undefined {
  const constants = node.input.slice(1, 5).map((name) => floatConstant(graph, name));
  const [scale, bias, mean, variance] = constants.map((tensor) => tensor && floatsOf(tensor));
  if (scale === undefined || bias === undefined || mean === undefined || variance === undefined)
    return undefined;
  if (intAttribute(node, 'training_mode', 0) !== 0) return undefined;
  const epsilon = floatAttribute(node, 'epsilon', 1e-5);
  const factor = Float64Array.from(scale, (value, at) => value / Math.sqrt((variance[at] ?? 0) + epsilon));
  const offset = Float64Array.from(bias, (value, at) => value - (mean[at] ?? 0) * (factor[at] ?? 0));
  return { factor, offset };
}

/** Multiply each output channel of a Conv's weight by its factor. */
function scaledWeight(weight: Tensor, name: string, factor: Float64Array): Tensor {
  const perChannel = elementCount(weight.dims.slice(1));
  return lazyTensor(name, 'float', weight.dims, () => {
    const scaled = Float32Array.from(floatsOf(weight));
    for (let at = 0; at < scaled.length; at += 1) {
      scaled[at] = (scaled[at] ?? 0) * (factor[Math.floor(at / perChannel)] ?? 1);
    }
    return new Uint8Array(scaled.buffer);
  });
}
