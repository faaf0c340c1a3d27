import { intAttribute } from '../../../model/graph/attributes.ts';
import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import { layerName } from '../layer-name.ts';
import { addToBias } from './add-to-bias.ts';
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

/**
 * Fold removed constant channels into the bias of the layers that use them, so that channels without weights are
 * removed without changing the result: behind a Sigmoid they are 0.5. Layers that are done otherwise are left out. Returns the layers in which this is not exact
 * at the edges, because the layer pads.
 */
export function foldConstantChannels(
  dependencies: DependencyGraph,
  isRemoved: (label: number) => boolean,
  isDone: (cut: Cut) => boolean = () => false,
): string[] {
  if (!hasDeadChannels(dependencies)) return [];
  const constants = new ConstantChannels(dependencies);
  const inexact: string[] = [];
  for (const cut of [...dependencies.cuts]) {
    const { node, position, isWeight } = cut;
    if (isDone(cut)) continue;
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
