import { floatAttribute, setAttribute } from '../../../model/graph/attributes.ts';
import { makeNode } from '../../../model/graph/graph.ts';
import { removeUnused } from '../../../model/graph/remove-unused.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { bitsOf } from '../../../model/tensor/data-type.ts';
import { elementCount, lazyTensor, makeTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import type { LayerChange } from '../../report/report.ts';
import { layerName } from '../outcome.ts';
import { layoutOf } from '../weight-layout.ts';
import type { Labels } from './channels.ts';
import type { Cut, DependencyGraph, Remaining } from './dependency-graph.ts';

/**
 * Remove channels from a model. Cut every constant that contains them, and copy constants that are shared in
 * different forms. Change everything that depends on the number of channels, and drop shape declarations that are
 * no longer true.
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

/** The remaining positions of an axis, in order. */
interface AxisCut {
  axis: number;
  places: readonly number[];
}

/** An input of a node and the remaining places of its axes. */
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

/** Connect the node to the cut constant. Nodes with the same cut share one copy. */
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

/** Return the tensor with only these places of its axes, under another name. Each read cuts it again. */
function cutTensor(tensor: Tensor, name: string, cuts: readonly AxisCut[]): Tensor {
  const width = bitsOf(tensor.type) / 8;
  const shapes = [tensor.dims];
  for (const { axis, places } of cuts) shapes.push((shapes.at(-1) ?? []).with(axis, places.length));
  return lazyTensor(name, tensor.type, shapes.at(-1) ?? [], () =>
    cuts.reduce((bytes, cut, at) => cutBytes(bytes, shapes[at] ?? [], width, cut), tensor.bytes()),
  );
}

/** Return the bytes of a tensor with only the remaining places of one axis. */
function cutBytes(
  bytes: Uint8Array,
  dims: readonly number[],
  width: number,
  { axis, places }: AxisCut,
): Uint8Array {
  const size = dims[axis] ?? 0;
  const outer = elementCount(dims.slice(0, axis));
  const run = elementCount(dims.slice(axis + 1)) * width;
  const left = new Uint8Array(outer * places.length * run);
  let to = 0;
  for (let row = 0; row < outer; row += 1) {
    for (const place of places) {
      const from = (row * size + place) * run;
      if (run <= 8) for (let at = 0; at < run; at += 1) left[to + at] = bytes[from + at] ?? 0;
      else left.set(bytes.subarray(from, from + run), to);
      to += run;
    }
  }
  return left;
}

/** Input positions of weights that only structured pruning changes. */
const otherWeights: Readonly<Record<string, readonly number[]>> = {
  ConvTranspose: [1],
  LSTM: [1, 2],
  GRU: [1, 2],
  RNN: [1, 2],
};

function changeOf({ node, position, tensor }: InputCut, cut: Tensor): LayerChange[] {
  const isWeight = node.domain === '' && otherWeights[node.opType]?.includes(position) === true;
  if (!isWeight && layoutOf(node, position, tensor) === undefined) return [];
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

/** Restore the original names of cut constants, if the uncut constants are gone. */
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

/**
 * Add numbers to a layer's bias, or create a bias. The bias loses the layer's removed outputs like any other
 * constant.
 */
export function addToBias(
  dependencies: DependencyGraph,
  { node }: Cut,
  weight: Tensor,
  sums: Float64Array,
): void {
  const { model, names } = dependencies;
  const name = names.make(`${layerName(node)}_bias`);
  const carried = dependencies.carried.get(node.output[0] ?? '');
  const labels = carried?.labels;
  const cutAt = (position: number, at = node): void => {
    if (labels !== undefined) dependencies.cut({ node: at, position, axis: 0, labels, isWeight: false });
  };
  if (node.opType === 'MatMul') {
    const [output = ''] = node.output;
    if (addToNext(dependencies, output, name, sums)) return;
    const product = names.make(`${output}_product`);
    const add = makeNode('Add', [product, name], [output], { name: names.make(`${layerName(node)}_add`) });
    model.graph.put(makeTensor(name, weight.type, [sums.length], Float32Array.from(sums)));
    node.output[0] = product;
    if (carried !== undefined) dependencies.carried.set(product, carried);
    model.graph.nodes.splice(model.graph.nodes.indexOf(node) + 1, 0, add);
    cutAt(1, add);
    return;
  }
  const former = model.graph.initializers.get(node.input[2] ?? '');
  const bias = former && floatsOf(former);
  const isGemm = node.opType === 'Gemm';
  const [alpha, beta] = isGemm ? [floatAttribute(node, 'alpha', 1), floatAttribute(node, 'beta', 1)] : [1, 1];
  const rows = Math.max(1, elementCount(former?.dims.slice(0, -1) ?? []));
  const isSpread = bias !== undefined && bias.length === rows && sums.length > 1;
  const values = Float32Array.from({ length: rows * sums.length }, (_, at) => {
    const own = bias?.[isSpread ? Math.floor(at / sums.length) : at] ?? 0;
    return beta * own + alpha * (sums[at % sums.length] ?? 0);
  });
  const dims = rows === 1 ? [sums.length] : [rows, sums.length];
  model.graph.put(makeTensor(name, weight.type, dims, values));
  if (isGemm && beta !== 1) setAttribute(node, 'beta', { float: 1 });
  const noted = dependencies.cuts.findIndex((cut) => cut.node === node && cut.position === 2);
  if (noted >= 0) dependencies.cuts.splice(noted, 1);
  node.input[2] = name;
  if (labels !== undefined)
    dependencies.cut({ node, position: 2, axis: dims.length - 1, labels, isWeight: false });
}

/** Input positions at which operators after a product add a constant for each output. */
const biasInputs: Readonly<Record<string, readonly number[]>> = {
  Add: [0, 1],
  BiasGelu: [1],
  SkipLayerNormalization: [4],
};

/**
 * Add numbers to the constant that the next node adds to a product. Return false if no such constant exists, or if
 * other nodes use the product too.
 */
function addToNext(
  dependencies: DependencyGraph,
  product: string,
  name: string,
  sums: Float64Array,
): boolean {
  const next = dependencies.index.soleUse(product)?.node;
  for (const position of biasInputs[next?.opType ?? ''] ?? []) {
    const bias = dependencies.constant(next?.input[position]);
    if (next === undefined || bias?.type !== 'float' || bias.dims.join() !== String(sums.length)) continue;
    const values = Float32Array.from(floatsOf(bias), (value, at) => value + (sums[at] ?? 0));
    next.input[position] = dependencies.model.graph.put(makeTensor(name, 'float', bias.dims, values)).name;
    return true;
  }
  return false;
}
