import { type Model, microsoft, useMicrosoft } from '../../model/file/model.ts';
import { foldBatchNorms } from '../../model/graph/fold-batch-norm.ts';
import { isExcluded } from '../../model/graph/graph.ts';
import { removeUnused } from '../../model/graph/remove-unused.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { TransformReport } from '../report/report.ts';
import { foldConstants } from './fold-constants.ts';
import { foldViews } from './fold-views.ts';
import { AttentionMasks, fuseAttention } from './fuse-attention.ts';
import { fuseBiasGelu, fuseFastGelu, fuseGelu } from './fuse-gelu.ts';
import { fuseLayerNorm, fuseSkipNorm } from './fuse-norms.ts';
import { GraphView } from './graph-view.ts';

/**
 * Rewrite a model's main graph with fewer operators. Its results stay the same to rounding. Compute constants,
 * fold BatchNormalization into Conv, and replace the patterns of LayerNormalization, Gelu, attention and their
 * sums by ONNX Runtime's operators for them (domain com.microsoft). Excluded nodes are part of no pattern. Weights
 * are multiplied in double precision, or only concatenated.
 */
export function fuseGraph(model: Model, exclude: readonly string[], report: TransformReport): void {
  const { graph } = model;
  const before = graph.nodes.length;
  foldConstants(model);
  foldViews(model);
  const norms = foldBatchNorms(model);
  for (const { operators, domain = '', fuse } of searches(model.opset())) {
    const view = new GraphView(model, exclude);
    for (const node of graph.nodes)
      if (operators.includes(node.opType) && node.domain === domain && !isExcluded(node, exclude))
        fuse(view, node);
    if (view.finish() > 0) removeUnused(graph);
  }
  removeUnused(graph);
  if (graph.nodes.some((node) => node.domain === microsoft)) useMicrosoft(model);
  const made = new Set(graph.nodes.flatMap(({ output }) => output));
  graph.proto.valueInfo = graph.proto.valueInfo.filter(({ name }) => made.has(name));
  const counts = [...fusedOperators(model)].map(([name, count]) => `${count} ${name}`);
  report.notes.push(
    `The graph was fused: ${before} operators became ${graph.nodes.length}; ${norms} BatchNormalization were folded, and it has ${counts.join(', ') || 'no fused operators'}.`,
  );
}

/** A search for a pattern around each node of some operators. */
interface Search {
  operators: readonly string[];
  domain?: string;
  fuse(view: GraphView, node: NodeProto): void;
}

/** First opset with LayerNormalization. A model of an older opset that uses it is not valid. */
const layerNormSince = 17;

/** Return the searches in the order of their dependencies. */
const searches = (opset: number): Search[] => {
  const masks = new AttentionMasks();
  return [
    ...(opset < layerNormSince ? [] : [{ operators: ['Div'], fuse: fuseLayerNorm }]),
    { operators: ['Erf'], fuse: fuseGelu },
    { operators: ['Tanh'], fuse: fuseFastGelu },
    { operators: ['Softmax'], fuse: (view, node) => fuseAttention(view, node, masks) },
    { operators: ['Gelu', 'FastGelu'], domain: microsoft, fuse: fuseBiasGelu },
    { operators: ['LayerNormalization'], fuse: fuseSkipNorm },
  ];
};

/** Count the nodes of each operator that results from fusion. */
function fusedOperators({ graph }: Model): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { opType, domain } of graph.nodes)
    if (domain === microsoft || opType === 'LayerNormalization')
      counts.set(opType, (counts.get(opType) ?? 0) + 1);
  return counts;
}
