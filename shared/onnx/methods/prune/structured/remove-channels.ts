import { removeUnused } from '../../../model/graph/remove-unused.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import { elementCount } from '../../../model/tensor/tensor.ts';
import type { LayerChange } from '../../report/report.ts';
import { layerName } from '../layer-name.ts';
import { layoutOf } from '../weight-layout.ts';
import type { Labels } from './channels.ts';
import { type AxisCut, cutTensor } from './cut-tensor.ts';
import type { DependencyGraph, Remaining } from './dependency-graph.ts';

/** Return the remaining positions of axes, each computed once. */
export function remainingOf(isRemoved: (label: number) => boolean): Remaining {
  const known = new Map<Labels, number[]>();
  const places = (labels: Labels): number[] => {
    const found =
      known.get(labels) ?? [...labels].flatMap((label, place) => (isRemoved(label) ? [] : [place]));
    known.set(labels, found);
    return found;
  };
  return { places, count: (labels) => places(labels).length };
}

/** An input of a node, and what is left of its axes. */
interface InputCut {
  node: NodeProto;
  position: number;
  tensor: Tensor;
  cuts: AxisCut[];
}

function inputCuts({ cuts, model }: DependencyGraph, remaining: Remaining): InputCut[] {
  const byInput = new Map<NodeProto, Map<number, InputCut>>();
  for (const { node, position, axis, labels } of cuts) {
    const tensor = model.graph.initializers.get(node.input[position] ?? '');
    const places = remaining.places(labels);
    if (tensor === undefined || places.length === labels.length) continue;
    const own = byInput.get(node) ?? new Map<number, InputCut>();
    const found = own.get(position) ?? { node, position, tensor, cuts: [] };
    found.cuts.push({ axis, places });
    byInput.set(node, own.set(position, found));
  }
  return [...byInput.values()].flatMap((own) => [...own.values()]);
}

/** Puts the cut constant in place: under its name where all use it so, else as a copy for those that do. */
function replace(
  dependencies: DependencyGraph,
  made: Map<string, Tensor>,
  { node, position, tensor, cuts }: InputCut,
): Tensor {
  const { graph } = dependencies.model;
  const key = JSON.stringify([tensor.name, cuts]);
  const known = made.get(key);
  const cut = known ?? graph.put(cutTensor(tensor, dependencies.names.make(`${tensor.name}_pruned`), cuts));
  made.set(key, cut);
  node.input[position] = cut.name;
  return cut;
}

/** Gives cut constants the name that they had where the former ones are gone. */
function restoreNames(dependencies: DependencyGraph, pairs: ReadonlyMap<Tensor, Tensor>): void {
  const { graph } = dependencies.model;
  const names = new Map<string, string>();
  const taken = new Set(graph.initializers.keys());
  for (const [cut, { name }] of pairs) {
    if (!taken.has(name)) names.set(cut.name, name);
    taken.add(name);
  }
  for (const [from, to] of names) {
    const cut = graph.initializers.get(from);
    if (cut === undefined) continue;
    graph.initializers.delete(from);
    graph.put({ ...cut, name: to });
  }
  for (const node of graph.nodes) node.input = node.input.map((name) => names.get(name) ?? name);
}

function changeOf({ node, position, tensor }: InputCut, cut: Tensor): LayerChange[] {
  const isTransposed = node.domain === '' && node.opType === 'ConvTranspose' && position === 1;
  if (!isTransposed && layoutOf(node, position, tensor) === undefined) return [];
  return [
    {
      layer: layerName(node),
      operator: node.opType,
      weight: tensor.name,
      parameters_before: elementCount(tensor.dims),
      parameters_after: elementCount(cut.dims),
      nonzero_before: null,
      nonzero_after: null,
      error: null,
    },
  ];
}

/**
 * Removes channels from a model: cuts every constant that has them, copying those that are shared in different forms,
 * changes what depends on their number, and drops declarations of shapes that no longer hold.
 */
export function removeChannels(dependencies: DependencyGraph, remaining: Remaining): LayerChange[] {
  const { graph } = dependencies.model;
  const made = new Map<string, Tensor>();
  const pairs = new Map<Tensor, Tensor>();
  const changes: LayerChange[] = [];
  for (const input of inputCuts(dependencies, remaining)) {
    const cut = replace(dependencies, made, input);
    pairs.set(cut, input.tensor);
    changes.push(...changeOf(input, cut));
  }
  for (const edit of dependencies.edits) edit(remaining);
  removeUnused(graph);
  restoreNames(dependencies, pairs);
  graph.proto.valueInfo = graph.proto.valueInfo.filter(
    ({ name }) => !dependencies.carried.has(name) && !graph.initializers.has(name),
  );
  return changes;
}
