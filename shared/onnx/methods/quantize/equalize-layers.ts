import { floatAttribute, intAttribute } from '../../model/graph/attributes.ts';
import { type Graph, isExcluded, type Names } from '../../model/graph/graph.ts';
import { GraphIndex } from '../../model/graph/graph-index.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, type Tensor } from '../../model/tensor/tensor.ts';
import { floatsOf } from '../../model/tensor/values.ts';
import { scaledAlong, weightAt } from './product-weights.ts';
import { isQuantizable } from './weight-store.ts';

/** A layer of a chain, and the axes of its weight. */
interface Layer {
  node: NodeProto;
  tensor: Tensor;
  outputs: number;
  outputAxis: number;
  /** Undefined if channels do not mix, as in a depthwise convolution. */
  inputAxis: number | undefined;
}

/** Current factors of a layer's input and output channels. */
interface Factors {
  input: Float64Array;
  output: Float64Array;
}

/** Maximum number of passes over all pairs. A change to one pair partly undoes those of its neighbours. */
const rounds = 20;

/** Convergence threshold for the logarithm of a factor. */
const settled = 1e-3;

/**
 * Give the channels between two layers ranges of the same size in both weights: cross-layer equalization (Nagel et
 * al., 2019, equation 12). Divide channel i of the first layer by s = √(r₁ / r₂), and multiply its weights in the
 * second layer. Only operators that a positive factor passes, such as Relu, may lie between the layers. The model
 * computes the same. Return the number of changed pairs.
 */
export function equalizeLayers(graph: Graph, names: Names, exclude: readonly string[]): number {
  const index = new GraphIndex(graph);
  const layers = new Map<NodeProto, Layer & Factors>();
  const pairs: [NodeProto, NodeProto][] = [];
  const known = (layer: Layer): void => {
    if (layers.has(layer.node)) return;
    const inputs = layer.inputAxis === undefined ? layer.outputs : (layer.tensor.dims[layer.inputAxis] ?? 0);
    const ones = (length: number) => new Float64Array(length).fill(1);
    layers.set(layer.node, { ...layer, input: ones(inputs), output: ones(layer.outputs) });
  };
  const shared = new Map<Tensor, number>();
  for (const node of graph.nodes) {
    const tensor = graph.initializers.get(node.input[weightAt] ?? '');
    if (tensor !== undefined) shared.set(tensor, (shared.get(tensor) ?? 0) + 1);
  }
  for (const node of graph.nodes) {
    const layer = layerOf(graph, node, exclude);
    const next = layer && follower(graph, index, layer, exclude);
    if (layer === undefined || next === undefined) continue;
    if ((shared.get(layer.tensor) ?? 0) > 1 || (shared.get(next.tensor) ?? 0) > 1) continue;
    known(layer);
    known(next);
    pairs.push([layer.node, next.node]);
  }
  const ranges = (layer: Layer & Factors, side: 'input' | 'output'): Float64Array => {
    const values = floatsOf(layer.tensor);
    if (layer.inputAxis === undefined) {
      const own = largestAlong(layer.tensor, values, layer.outputAxis);
      return own.map((value, at) => value * (layer.input[at] ?? 1) * (layer.output[at] ?? 1));
    }
    const isOutput = side === 'output';
    const axis = isOutput ? layer.outputAxis : layer.inputAxis;
    const other = isOutput
      ? { axis: layer.inputAxis, factors: layer.input }
      : { axis: layer.outputAxis, factors: layer.output };
    const own = isOutput ? layer.output : layer.input;
    return largestAlong(layer.tensor, values, axis, other).map((value, at) => value * (own[at] ?? 1));
  };
  for (let round = 0; round < rounds; round += 1) {
    let furthest = 0;
    for (const [first, second] of pairs) {
      const [a, b] = [layers.get(first), layers.get(second)];
      if (a === undefined || b === undefined) continue;
      const [r1, r2] = [ranges(a, 'output'), ranges(b, 'input')];
      for (let channel = 0; channel < r1.length; channel += 1) {
        const [one = 0, other = 0] = [r1[channel], r2[channel]];
        if (!(one > 0) || !(other > 0)) continue;
        const s = Math.sqrt(one / other);
        a.output[channel] = (a.output[channel] ?? 1) / s;
        b.input[channel] = (b.input[channel] ?? 1) * s;
        furthest = Math.max(furthest, Math.abs(Math.log(s)));
      }
    }
    if (furthest < settled) break;
  }
  for (const layer of layers.values()) putFactors(graph, names, layer);
  return pairs.length;
}

function layerOf(graph: Graph, node: NodeProto | undefined, exclude: readonly string[]): Layer | undefined {
  if (node === undefined || node.domain !== '') return undefined;
  const tensor = graph.initializers.get(node.input[weightAt] ?? '');
  if (tensor === undefined || !isQuantizable(tensor) || isExcluded(node, exclude)) return undefined;
  const bias = graph.initializers.get(node.input[2] ?? '');
  if (node.input[2] && bias?.type !== 'float') return undefined;
  const { dims } = tensor;
  if (node.opType === 'Conv') {
    const group = intAttribute(node, 'group', 1);
    if (group === 1) return { node, tensor, outputs: dims[0] ?? 0, outputAxis: 0, inputAxis: 1 };
    const isDepthwise = dims[1] === 1 && dims[0] === group;
    return isDepthwise
      ? { node, tensor, outputs: dims[0] ?? 0, outputAxis: 0, inputAxis: undefined }
      : undefined;
  }
  if (node.opType !== 'Gemm' || dims.length !== 2) return undefined;
  if (bias !== undefined && elementCount(bias.dims) !== bias.dims.at(-1)) return undefined;
  const isPlain = intAttribute(node, 'transA', 0) === 0 && floatAttribute(node, 'alpha', 1) === 1;
  if (!isPlain || floatAttribute(node, 'beta', 1) !== 1) return undefined;
  const turned = intAttribute(node, 'transB', 0) !== 0;
  const outputAxis = turned ? 0 : 1;
  return { node, tensor, outputs: dims[outputAxis] ?? 0, outputAxis, inputAxis: 1 - outputAxis };
}

/** Operators that commute with a positive factor. */
const homogeneous: ReadonlySet<string> = new Set(['Relu', 'LeakyRelu', 'Identity']);

/**
 * Return the layer that is the only user of a layer's output, with only operators in between that commute with a
 * positive factor.
 */
function follower(
  graph: Graph,
  index: GraphIndex,
  { node, outputs }: Layer,
  exclude: readonly string[],
): Layer | undefined {
  let use = index.soleUse(node.output[0] ?? '');
  while (use !== undefined && use.position === 0 && homogeneous.has(use.node.opType))
    use = index.soleUse(use.node.output[0] ?? '');
  if (use?.position !== 0) return undefined;
  const next = layerOf(graph, use.node, exclude);
  if (next === undefined || next.node.opType !== node.opType) return undefined;
  const inputs = next.inputAxis === undefined ? next.outputs : next.tensor.dims[next.inputAxis];
  return inputs === outputs ? next : undefined;
}

/**
 * Return the largest magnitude of each channel along an axis. Each value is multiplied by the factor of its
 * channel on another axis.
 */
function largestAlong(
  { dims }: Tensor,
  values: Float32Array,
  axis: number,
  other?: { axis: number; factors: Float64Array },
): Float64Array {
  const inner = elementCount(dims.slice(axis + 1));
  const otherInner = other ? elementCount(dims.slice(other.axis + 1)) : 1;
  const largest = new Float64Array(dims[axis] ?? 0);
  for (let at = 0; at < values.length; at += 1) {
    const channel = Math.floor(at / inner) % largest.length;
    const factor = other ? (other.factors[Math.floor(at / otherInner) % other.factors.length] ?? 1) : 1;
    const magnitude = Math.abs(values[at] ?? 0) * factor;
    if (magnitude > (largest[channel] ?? 0)) largest[channel] = magnitude;
  }
  return largest;
}

function putFactors(graph: Graph, names: Names, layer: Layer & Factors): void {
  const { node, tensor, outputAxis, inputAxis, input, output } = layer;
  const name = names.make(`${tensor.name}_equalized`);
  const own = inputAxis === undefined ? output.map((value, at) => value * (input[at] ?? 1)) : output;
  const byOutput = scaledAlong(tensor, name, outputAxis, own);
  graph.put(inputAxis === undefined ? byOutput : scaledAlong(byOutput, name, inputAxis, input));
  node.input[weightAt] = name;
  const bias = graph.initializers.get(node.input[2] ?? '');
  if (bias === undefined) return;
  const shifted = names.make(`${bias.name}_equalized`);
  graph.put(scaledAlong(bias, shifted, Math.max(0, bias.dims.length - 1), output));
  node.input[2] = shifted;
}
