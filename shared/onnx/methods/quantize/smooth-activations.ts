import { type Graph, makeNode, type Names } from '../../model/graph/graph.ts';
import { GraphIndex } from '../../model/graph/graph-index.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { makeTensor } from '../../model/tensor/tensor.ts';
import type { CalibrationStatistics } from '../calibrate/statistics-file.ts';
import {
  inputsOf,
  largestByInput,
  type ProductWeight,
  productWeight,
  scaledAlong,
  weightAt,
} from './product-weights.ts';

export interface Smoothed {
  /** Factors that values were divided by, by the name of the divided value. */
  factors: ReadonlyMap<string, { of: string; by: Float32Array }>;
  /** Number of values that an inserted node divides. */
  nodes: number;
}

/**
 * Move part of the magnitude of activation channels into the weights of the products that use them. The model
 * computes the same, and no activation has a channel that makes all others coarse. The factors go into the
 * preceding LayerNormalization if it serves these products alone, otherwise into a Mul.
 */
export function smoothActivations(
  graph: Graph,
  names: Names,
  { alpha, exclude }: { alpha: number; exclude: readonly string[] },
  statistics: CalibrationStatistics,
): Smoothed {
  const index = new GraphIndex(graph);
  const inserted = new Map<NodeProto, NodeProto>();
  const factors = new Map<string, { of: string; by: Float32Array }>();
  for (const [activation, products] of groupsOf(graph, exclude)) {
    const observed = statistics.get(activation);
    const [first] = products;
    if (observed === undefined || first === undefined) continue;
    if (products.some((one) => inputsOf(one) !== observed.channels)) continue;
    const weights = products.map(largestByInput);
    const largest = Float64Array.from(observed.largest, (_, at) =>
      Math.max(...weights.map((one) => one[at] ?? 0)),
    );
    const by = smoothingFactors(observed.largest, largest, alpha);
    for (const product of products) {
      const name = names.make(`${product.tensor.name}_smoothed`);
      graph.put(scaledAlong(product.tensor, name, product.inputAxis, by));
      product.node.input[weightAt] = name;
    }
    const inverse = by.map((factor) => 1 / factor);
    const normalization = normalizationOf(graph, index, activation, products);
    if (normalization !== undefined) {
      for (let position = 1; position < normalization.input.length; position += 1) {
        const tensor = graph.initializers.get(normalization.input[position] ?? '');
        if (tensor === undefined) continue;
        const name = names.make(`${tensor.name}_smoothed`);
        graph.put(scaledAlong(tensor, name, 0, inverse));
        normalization.input[position] = name;
      }
      factors.set(activation, { of: activation, by });
      continue;
    }
    const smooth = names.make(`${activation}_smoothed`);
    const scale = graph.put(
      makeTensor(names.make(`${activation}_smoothing`), 'float', [inverse.length], inverse),
    );
    for (const { node } of products) node.input[0] = smooth;
    inserted.set(
      first.node,
      makeNode('Mul', [activation, scale.name], [smooth], { name: names.make(`${smooth}_Mul`) }),
    );
    factors.set(smooth, { of: activation, by });
  }
  graph.nodes = graph.nodes.flatMap((node) => {
    const before = inserted.get(node);
    return before === undefined ? [node] : [before, node];
  });
  return { factors, nodes: inserted.size };
}

/** Group the products by their activation. */
function groupsOf(graph: Graph, exclude: readonly string[]): Map<string, ProductWeight[]> {
  const groups = new Map<string, ProductWeight[]>();
  for (const node of graph.nodes) {
    const product = productWeight(graph, node, exclude);
    if (product === undefined) continue;
    const name = node.input[0] ?? '';
    groups.set(name, [...(groups.get(name) ?? []), product]);
  }
  return groups;
}

const maxFactor = 1e4;

/** Bounds of a channel's factor. Beyond them, one side would lose its precision. */
const minFactor = 1e-4;

/**
 * Return the factor that divides each channel of an activation and multiplies its weights: max|x|^α / max|w|^(1 −
 * α), stored as float32 (SmoothQuant; Xiao et al., 2023, equation 4). 1 if either is always zero.
 */
export function smoothingFactors(
  activation: ArrayLike<number>,
  weight: ArrayLike<number>,
  alpha: number,
): Float32Array {
  return Float32Array.from(activation, (x, at) => {
    const w = weight[at] ?? 0;
    if (!(x > 0) || !(w > 0)) return 1;
    return Math.min(maxFactor, Math.max(minFactor, x ** alpha / w ** (1 - alpha)));
  });
}

/**
 * Return the LayerNormalization that produces an activation for these products alone, if its constants can absorb
 * the factors.
 */
function normalizationOf(
  graph: Graph,
  index: GraphIndex,
  activation: string,
  products: readonly ProductWeight[],
): NodeProto | undefined {
  const node = index.producer(activation);
  if (node?.opType !== 'LayerNormalization' || (node.domain !== '' && node.domain !== 'ai.onnx'))
    return undefined;
  if (index.isOutput(activation) || index.uses(activation).length !== products.length) return undefined;
  const constants = node.input.slice(1).map((name) => graph.initializers.get(name));
  const [first] = products;
  const channels = first ? inputsOf(first) : 0;
  const fits = constants.every((one) => one?.type === 'float' && one.dims.join() === String(channels));
  return fits ? node : undefined;
}
