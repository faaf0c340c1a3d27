import { intAttribute } from '../../../model/graph/attributes.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import type { Labels } from '../structured/channels.ts';
import type { Cut, DependencyGraph } from '../structured/dependency-graph.ts';

/** A layer that takes channels which may be removed: a Conv, Gemm or MatMul of a constant weight of float32. */
export interface Consumer {
  node: NodeProto;
  cut: Cut;
  weight: Tensor;
  /** Name of the value that it takes, and the labels of all its channels. */
  input: string;
  labels: Labels;
  /** Groups of a convolution: each takes its own part of the channels. */
  groups: number;
  /** The only layer of this weight: others would change with it. */
  isAlone: boolean;
}

const operators = new Set(['Conv', 'Gemm', 'MatMul']);

/** The layers of a model that use removable channels up, in order. */
export function consumersOf(dependencies: DependencyGraph): Consumer[] {
  const { cuts, channels, carried, producers, index } = dependencies;
  const makers = new Set(producers.map(({ node }) => node));
  return cuts.flatMap((cut) => {
    const { node, position, isWeight } = cut;
    const [input = ''] = node.input;
    const taken = carried.get(input);
    const weight = dependencies.constant(node.input[1]);
    const isOwn = node.domain === '' && operators.has(node.opType) && makers.has(node);
    if (!isOwn || !isWeight || position !== 1 || taken === undefined || weight?.type !== 'float') return [];
    // The other cut of the weight is that of what the layer makes.
    if (carried.get(node.output[0] ?? '')?.labels === cut.labels) return [];
    if (node.opType !== 'Conv' && weight.dims.length !== 2) return [];
    const { labels } = taken;
    if (labels.every((label) => channels.lockOf(label) !== undefined)) return [];
    const groups = node.opType === 'Conv' ? intAttribute(node, 'group', 1) : 1;
    return [{ node, cut, weight, input, labels, groups, isAlone: index.uses(weight.name).length === 1 }];
  });
}
