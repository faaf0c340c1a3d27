import {
  floatAttribute,
  intAttribute,
  intsAttribute,
  stringAttribute,
} from '../../../model/graph/attributes.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf, isFloatTensor } from '../../../model/tensor/values.ts';
import { layerName } from '../outcome.ts';
import type { Carried, Cut, DependencyGraph } from './dependency-graph.ts';
import { addToBias } from './remove-channels.ts';

/**
 * Fold removed constant channels into the bias of the layers that use them. Channels without weights can then be
 * removed without changing the result: after a Sigmoid they are 0.5. Skip layers for which `isDone` is true.
 * Return the layers in which the fold is not exact at the edges, because they pad.
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
      dependencies.producers.some((producer) => producer.node === node);
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

/** Whether any producer has a channel without weights. Otherwise there is nothing to fold. */
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

/** The constant value of each channel. NaN for channels that depend on the input. */
type ChannelConstants = Float64Array;

const combine: Readonly<Record<string, (a: number, b: number) => number>> = {
  Add: (a, b) => a + b,
  Sub: (a, b) => a - b,
  Mul: (a, b) => a * b,
  Div: (a, b) => a / b,
  Max: Math.max,
  Min: Math.min,
};

const pools = new Set(['MaxPool', 'GlobalMaxPool', 'GlobalAveragePool', 'AveragePool']);

/**
 * Operators that move channels unchanged, or change the places within each. Labels relate the output's channels to the
 * input's.
 */
const moving = new Set([
  ...'Transpose Squeeze Unsqueeze Flatten Reshape Split Slice Identity Dropout Expand'.split(' '),
  ...'Resize Upsample SpaceToDepth ReduceMean ReduceMax ReduceMin'.split(' '),
]);

/**
 * Find the channels that do not depend on the input. Their weights are all zero, for example after an earlier
 * pruning. Activations, BatchNormalization and sums keep them constant (Sigmoid(0) is 0.5).
 */
class ConstantChannels {
  readonly #dependencies: DependencyGraph;
  readonly #known = new Map<string, ChannelConstants>();

  constructor(dependencies: DependencyGraph) {
    this.#dependencies = dependencies;
    for (const node of dependencies.model.graph.nodes) {
      for (const [at, output] of node.output.entries()) {
        const carried = dependencies.carried.get(output);
        const found =
          carried && at < 1 + (node.opType === 'Split' ? at : 0) ? this.#of(node, carried) : undefined;
        if (found?.some((value) => !Number.isNaN(value))) this.#known.set(output, found);
      }
    }
  }

  /** Return the constants of a value's channels. Undefined if no channel is constant. */
  of(name: string | undefined): ChannelConstants | undefined {
    return this.#known.get(name ?? '');
  }

  #of(node: NodeProto, carried: Carried): ChannelConstants | undefined {
    const input = this.of(node.input[0]);
    const { opType } = node;
    if (opType === 'Conv' || opType === 'Gemm' || opType === 'MatMul') return this.#ofLayer(node, carried);
    if (opType === 'Concat') return this.#ofConcat(node);
    if (combine[opType] !== undefined) return this.#ofPair(node, carried, combine[opType]);
    if (input === undefined) return undefined;
    if (opType === 'Clip') return this.#ofClip(node, input);
    const activation = constantActivations[opType];
    if (activation !== undefined) return input.map((value) => activation(value, node));
    if (pools.has(opType))
      return isPadded(node) && intAttribute(node, 'count_include_pad', 0) !== 0 ? undefined : input;
    if (opType === 'BatchNormalization') return this.#ofNorm(node, input);
    return moving.has(opType) ? this.#ofMove(node, carried, input) : undefined;
  }

  /**
   * Return the value for each channel of a constant input: one for all channels, or one for each along the channel
   * axis.
   */
  #constants(name: string | undefined, length: number): ((at: number) => number) | undefined {
    const tensor = this.#dependencies.constant(name);
    if (tensor === undefined || !isFloatTensor(tensor)) return undefined;
    const count = elementCount(tensor.dims);
    if (count !== 1 && count !== length) return undefined;
    const values = floatsOf(tensor);
    return (at) => values[count === 1 ? 0 : at] ?? Number.NaN;
  }

  /** Return the layer's bias for channels whose weights are all zero. */
  #ofLayer(node: NodeProto, { labels }: Carried): ChannelConstants | undefined {
    const cut = this.#dependencies.cuts.find(
      (one) => one.node === node && one.position === 1 && one.labels === labels,
    );
    const weight = this.#dependencies.constant(node.input[1]);
    if (cut === undefined || weight === undefined) return undefined;
    const behind = elementCount(weight.dims.slice(cut.axis + 1));
    const constants = new Float64Array(labels.length);
    for (const [at, value] of floatsOf(weight).entries()) {
      if (value !== 0) constants[Math.floor(at / behind) % labels.length] = Number.NaN;
    }
    if (!node.input[2]) return constants;
    const bias = this.#constants(node.input[2], labels.length);
    const factor = node.opType === 'Gemm' ? floatAttribute(node, 'beta', 1) : 1;
    return bias && constants.map((value, at) => value + factor * bias(at));
  }

  #ofConcat(node: NodeProto): ChannelConstants {
    const parts = node.input.map((name) => {
      const length = this.#dependencies.carried.get(name)?.labels.length ?? 0;
      return this.of(name) ?? new Float64Array(length).fill(Number.NaN);
    });
    return Float64Array.from(parts.flatMap((part) => [...part]));
  }

  #ofPair(
    node: NodeProto,
    { labels }: Carried,
    compute: (a: number, b: number) => number,
  ): ChannelConstants | undefined {
    const [a, b] = node.input.map((name): ((at: number) => number) | undefined => {
      const own = this.of(name);
      if (own === undefined) return this.#constants(name, labels.length);
      return own.length === labels.length ? (at) => own[at] ?? Number.NaN : undefined;
    });
    return a && b && Float64Array.from(labels, (_, at) => compute(a(at), b(at)));
  }

  #ofClip(node: NodeProto, input: ChannelConstants): ChannelConstants | undefined {
    const [least, most] = ['min', 'max'].map((name, at) =>
      node.input[at + 1]
        ? this.#constants(node.input[at + 1], 1)?.(0)
        : floatAttribute(node, name, at === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY),
    );
    if (least === undefined || most === undefined) return undefined;
    return input.map((value) => Math.min(most, Math.max(least, value)));
  }

  #ofNorm(node: NodeProto, input: ChannelConstants): ChannelConstants | undefined {
    const [scale, bias, mean, variance] = node.input
      .slice(1, 5)
      .map((name) => this.#constants(name, input.length));
    if (!scale || !bias || !mean || !variance) return undefined;
    const epsilon = floatAttribute(node, 'epsilon', 1e-5);
    return input.map(
      (value, at) => ((value - mean(at)) / Math.sqrt(variance(at) + epsilon)) * scale(at) + bias(at),
    );
  }

  #ofMove(node: NodeProto, { labels }: Carried, input: ChannelConstants): ChannelConstants | undefined {
    const from = this.#dependencies.carried.get(node.input[0] ?? '')?.labels;
    if (from === undefined) return undefined;
    if (from === labels) return input;
    const byLabel = new Map<number, number>();
    for (const [at, label] of from.entries()) {
      const value = input[at] ?? Number.NaN;
      // A label with several channels is constant only if all of them are equal.
      byLabel.set(label, byLabel.has(label) && byLabel.get(label) !== value ? Number.NaN : value);
    }
    const isPart = node.opType === 'Split' || node.opType === 'Slice';
    const isComplete = isPart || new Set(labels).size === byLabel.size;
    return isComplete ? Float64Array.from(labels, (label) => byLabel.get(label) ?? Number.NaN) : undefined;
  }
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

const softplus = (x: number): number => Math.log1p(Math.exp(x));

const hardSigmoid = (x: number, slope: number, offset: number): number =>
  Math.min(1, Math.max(0, slope * x + offset));

/** The result of each activation on a constant, as the ONNX operators of these names define it with their defaults. */
const constantActivations: Readonly<Record<string, (x: number, node: NodeProto) => number>> = {
  Relu: (x) => Math.max(0, x),
  LeakyRelu: (x, node) => (x < 0 ? floatAttribute(node, 'alpha', 0.01) * x : x),
  Elu: (x, node) => (x < 0 ? floatAttribute(node, 'alpha', 1) * Math.expm1(x) : x),
  Selu: (x, node) =>
    floatAttribute(node, 'gamma', 1.0507009873554805) *
    (x > 0 ? x : floatAttribute(node, 'alpha', 1.6732632423543772) * Math.expm1(x)),
  Sigmoid: (x) => sigmoid(x),
  HardSigmoid: (x, node) =>
    hardSigmoid(x, floatAttribute(node, 'alpha', 0.2), floatAttribute(node, 'beta', 0.5)),
  HardSwish: (x) => x * hardSigmoid(x, 1 / 6, 0.5),
  Tanh: (x) => Math.tanh(x),
  Softplus: (x) => softplus(x),
  Softsign: (x) => x / (1 + Math.abs(x)),
  Mish: (x) => x * Math.tanh(softplus(x)),
  Exp: (x) => Math.exp(x),
  Cos: (x) => Math.cos(x),
  Abs: (x) => Math.abs(x),
  Neg: (x) => -x,
  Sqrt: (x) => Math.sqrt(x),
};

/** Whether any pad is not zero. */
export const isPadded = (node: NodeProto): boolean =>
  (intsAttribute(node, 'pads') ?? []).some((pad) => pad !== 0) ||
  stringAttribute(node, 'auto_pad', 'NOTSET').startsWith('SAME');

/** Return the contribution of removed constant channels to each output of a layer. */
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
