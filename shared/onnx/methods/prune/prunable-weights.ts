import { type Graph, isExcluded } from '../../model/graph/graph.ts';
import { finiteness } from '../../model/kernels/finiteness.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { Tensor } from '../../model/tensor/tensor.ts';
import { isFloatTensor } from '../../model/tensor/values.ts';
import type { TransformReport } from '../report/report.ts';
import { layerName } from './outcome.ts';
import { layoutOf, sameLayout, type WeightLayout } from './weight-layout.ts';

/** A weight whose single values may be zeroed. */
export interface PrunableWeight {
  tensor: Tensor;
  /** The graph that holds it: the main one, or a body of control flow. */
  graph: Graph;
  /** The first node that uses it. */
  node: NodeProto;
  /** The layouts in which its users read it. Only a shared weight may have several. */
  layouts: WeightLayout[];
}

/**
 * Return the weights of a model that may be zeroed: floating-point constants that Conv, Gemm and MatMul multiply
 * with, control flow bodies included. Biases, norms and embeddings do not count. The report lists the weights that
 * are kept.
 */
export function prunableWeights(
  root: Graph,
  exclude: readonly string[],
  report: TransformReport,
): PrunableWeight[] {
  const found = new Map<Tensor, PrunableWeight>();
  const kept = new Map<Tensor, string>();
  for (const graph of root.all()) {
    for (const { name } of graph.outputs) {
      const tensor = graph.initializer(name);
      if (tensor !== undefined) kept.set(tensor, 'is an output of the model');
    }
    const makers = new Map(graph.nodes.map((node) => [node.output[0] ?? '', node] as const));
    for (const node of graph.nodes) {
      const why = remark(graph, node, makers);
      if (why !== undefined) report.keep(layerName(node), why);
      for (const [position, name] of node.input.entries()) {
        const tensor = graph.initializer(name);
        const owner = ownerOf(graph, name);
        if (tensor === undefined || owner === undefined || !isFloatTensor(tensor)) continue;
        const layout = layoutOf(node, position, tensor);
        if (layout === undefined) {
          kept.set(tensor, `is also used by ${node.opType} ${layerName(node)}`);
          continue;
        }
        if (isExcluded(node, exclude)) kept.set(tensor, 'was excluded');
        const weight = found.get(tensor) ?? { tensor, graph: owner, node, layouts: [] };
        if (!weight.layouts.some((other) => sameLayout(other, layout))) weight.layouts.push(layout);
        found.set(tensor, weight);
      }
    }
  }
  const isSound = finiteness();
  return [...found.values()].filter(({ tensor, node }) => {
    const why = kept.get(tensor) ?? (isSound(tensor) ? undefined : 'contains NaN or infinite values');
    if (why !== undefined) report.keep(`weight ${tensor.name} of ${layerName(node)}`, why);
    return why === undefined;
  });
}

/** Operators whose weights are never pruned. The owner may not expect this, so the report lists them. */
const otherLayers = new Set(
  'ConvTranspose LSTM GRU RNN Einsum Attention QAttention FusedMatMul FusedConv FusedGemm DeformConv'.split(
    ' ',
  ),
);

/**
 * Return the reason why a layer's weight is not pruned, for the report. Undefined if the layer needs no report.
 */
function remark(graph: Graph, node: NodeProto, makers: ReadonlyMap<string, NodeProto>): string | undefined {
  if (otherLayers.has(node.opType)) return `weights of ${node.opType} are not pruned`;
  if (node.domain !== '') return undefined;
  const maker = makers.get(node.input[1] ?? '');
  const isStored = maker?.opType === 'Cast' || maker?.opType === 'DequantizeLinear';
  if (node.opType === 'MatMul' && isStored && graph.initializer(maker.input[0] ?? '') !== undefined)
    return `its weight is computed by ${maker.opType} while the model runs`;
  if (node.opType !== 'Conv' && node.opType !== 'Gemm') return undefined;
  const weight = graph.initializer(node.input[1] ?? '');
  if (weight === undefined) return 'its weight is not a constant';
  return isFloatTensor(weight) ? undefined : `its weight is of type ${weight.type}`;
}

function ownerOf(graph: Graph, name: string): Graph | undefined {
  for (let at: Graph | undefined = graph; at !== undefined; at = at.parent)
    if (at.initializers.has(name)) return at;
  return undefined;
}
