import { floatAttribute, intAttribute, setAttribute } from '../../graph/attributes.ts';
import { makeNode } from '../../graph/make-node.ts';
import { elementCount, makeTensor, type Tensor } from '../../tensor/tensor.ts';
import { floatsOf } from '../../tensor/values.ts';
import { layerName } from '../layer-name.ts';
import { type ChannelConstants, ConstantChannels, isPadded } from './constant-channels.ts';
import type { Cut, DependencyGraph } from './dependency-graph.ts';

/** Whether anything that makes channels has one without weights; only then is there something to look for. */
function hasDeadChannels({ producers, model, cuts }: DependencyGraph): boolean {
  const made = new Set(producers.map(({ labels }) => labels));
  return cuts.some(({ node, position, axis, labels }) => {
    const weight = made.has(labels) ? model.graph.initializers.get(node.input[position] ?? '') : undefined;
    if (weight === undefined) return false;
    const behind = elementCount(weight.dims.slice(axis + 1));
    const isAlive = new Uint8Array(labels.length);
    for (const [at, value] of floatsOf(weight).entries())
      if (value !== 0) isAlive[Math.floor(at / behind) % labels.length] = 1;
    return isAlive.includes(0);
  });
}

/** The contribution of removed constant channels to each output of a layer. */
function contributions(
  { node, axis }: Cut,
  weight: Tensor,
  constants: ChannelConstants,
  isRemoved: (at: number) => boolean,
): Float64Array {
  const outputAxis =
    node.opType === 'Conv' ? 0 : weight.dims.length - 2 + (1 - (axis - weight.dims.length + 2));
  const outputs = weight.dims[outputAxis] ?? 0;
  const inputs = weight.dims[axis] ?? 1;
  const groups = node.opType === 'Conv' ? intAttribute(node, 'group', 1) : 1;
  const behind = elementCount(weight.dims.slice(axis + 1));
  const behindOutput = elementCount(weight.dims.slice(outputAxis + 1));
  const sums = new Float64Array(outputs);
  for (const [at, value] of floatsOf(weight).entries()) {
    const output = Math.floor(at / behindOutput) % outputs;
    const group = Math.floor((output * groups) / outputs);
    const channel = group * inputs + (Math.floor(at / behind) % inputs);
    const constant = isRemoved(channel) ? (constants[channel] ?? Number.NaN) : 0;
    if (constant !== 0 && !Number.isNaN(constant)) sums[output] = (sums[output] ?? 0) + value * constant;
  }
  return sums;
}

/** Adds numbers to a layer's bias, or gives it one; it loses the layer's removed outputs like any other. */
function addToBias(dependencies: DependencyGraph, { node }: Cut, weight: Tensor, sums: Float64Array): void {
  const { model, names } = dependencies;
  const name = names.make(`${layerName(node)}_bias`);
  const carried = dependencies.carried.get(node.output[0] ?? '');
  const labels = carried?.labels;
  const cutAt = (position: number, at = node): void => {
    if (labels !== undefined) dependencies.cut({ node: at, position, axis: 0, labels, isWeight: false });
  };
  if (node.opType === 'MatMul') {
    const [output = ''] = node.output;
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
  const noted = dependencies.cuts.findIndex((one) => one.node === node && one.position === 2);
  if (noted >= 0) dependencies.cuts.splice(noted, 1);
  node.input[2] = name;
  if (labels !== undefined)
    dependencies.cut({ node, position: 2, axis: dims.length - 1, labels, isWeight: false });
}

/**
 * Fold removed constant channels into the bias of the layers that use them, so that channels without weights are
 * removed without changing the result: behind a Sigmoid they are 0.5. Returns the layers in which this is not exact
 * at the edges, because the layer pads.
 */
export function foldConstantChannels(
  dependencies: DependencyGraph,
  isRemoved: (label: number) => boolean,
): string[] {
  if (!hasDeadChannels(dependencies)) return [];
  const constants = new ConstantChannels(dependencies);
  const inexact: string[] = [];
  for (const cut of [...dependencies.cuts]) {
    const { node, position, isWeight } = cut;
    const input = dependencies.carried.get(node.input[0] ?? '');
    const known = constants.of(node.input[0]);
    const weight = dependencies.constant(node.input[1]);
    const isUser =
      isWeight &&
      position === 1 &&
      input !== undefined &&
      dependencies.producers.some((one) => one.node === node);
    if (!isUser || known === undefined || weight?.type !== 'float') continue;
    if (node.opType !== 'Conv' && weight.dims.length !== 2) continue;
    if (dependencies.carried.get(node.output[0] ?? '')?.labels === cut.labels) continue;
    const sums = contributions(cut, weight, known, (at) => isRemoved(input.labels[at] ?? 0));
    if (sums.every((sum) => sum === 0)) continue;
    addToBias(dependencies, cut, weight, sums);
    if (isPadded(node)) inexact.push(layerName(node));
  }
  return inexact;
}
