import { type Graph, isExcluded, type Names, operatorName } from '../../model/graph/graph.ts';
import type { GraphIndex } from '../../model/graph/graph-index.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount } from '../../model/tensor/tensor.ts';
import { outputsOf, productWeight, scaledAlong, weightAt } from './product-weights.ts';

/** A graph whose nodes are to scale their outputs. */
interface Scaled {
  graph: Graph;
  index: GraphIndex;
  names: Names;
  /** Nodes of a request that stay as they are. */
  exclude: readonly string[];
}

/** A change of a node's constant. */
type Scaling = () => void;

/**
 * Return the changes of constants that multiply each channel on the last axis of a value, in the nodes that produce
 * it. Undefined if these have no constants for all of it, or if other nodes use what they make. The factors must be
 * positive.
 */
export function scalingsOf(scaled: Scaled, name: string, by: Float32Array): Scaling[] | undefined {
  const node = scaled.index.producer(name);
  if (node?.output[0] !== name || isExcluded(node, scaled.exclude)) return undefined;
  return rules.get(operatorName(node))?.(scaled, node, by);
}

type ScaleRule = (scaled: Scaled, node: NodeProto, by: Float32Array) => Scaling[] | undefined;

/** Scale an input that is the result of other nodes. Only this node may use it. */
function before(scaled: Scaled, node: NodeProto, position: number, by: Float32Array): Scaling[] | undefined {
  const name = node.input[position] ?? '';
  return scaled.index.soleUse(name) === undefined ? undefined : scalingsOf(scaled, name, by);
}

/** Scale a constant input with one value for each channel. */
function constant(
  { graph, names }: Scaled,
  node: NodeProto,
  position: number,
  by: Float32Array,
): Scaling[] | undefined {
  const tensor = graph.initializers.get(node.input[position] ?? '');
  const isVector = tensor?.dims.at(-1) === by.length && elementCount(tensor.dims) === by.length;
  if (tensor?.type !== 'float' || !isVector) return undefined;
  return [
    () => {
      const name = names.make(`${tensor.name}_scaled`);
      graph.put(scaledAlong(tensor, name, tensor.dims.length - 1, by));
      node.input[position] = name;
    },
  ];
}

const either = (scaled: Scaled, node: NodeProto, position: number, by: Float32Array): Scaling[] | undefined =>
  constant(scaled, node, position, by) ?? before(scaled, node, position, by);

/** Join the changes of all parts. Undefined if one is not possible. */
const all = (...parts: (Scaling[] | undefined)[]): Scaling[] | undefined =>
  parts.every((part) => part !== undefined) ? parts.flat() : undefined;

/** Operators that commute with a positive factor. */
const commuting: ScaleRule = (scaled, node, by) => before(scaled, node, 0, by);

/** Before opset 7 an attribute gave the axis of a broadcast operand. */
const isPlain = ({ attribute }: NodeProto): boolean => attribute.length === 0;

const sum: ScaleRule = (scaled, node, by) =>
  isPlain(node) ? all(either(scaled, node, 0, by), either(scaled, node, 1, by)) : undefined;

const factor: ScaleRule = (scaled, node, by) => {
  if (!isPlain(node)) return undefined;
  return (
    constant(scaled, node, 1, by) ??
    constant(scaled, node, 0, by) ??
    before(scaled, node, 0, by) ??
    before(scaled, node, 1, by)
  );
};

const quotient: ScaleRule = (scaled, node, by) => {
  if (!isPlain(node)) return undefined;
  const inverse = by.map((one) => 1 / one);
  return constant(scaled, node, 1, inverse) ?? either(scaled, node, 0, by);
};

/** Rule of a normalization with constants of the last axis at these inputs, as far as they are given. */
const normalization =
  (positions: readonly number[]): ScaleRule =>
  (scaled, node, by) => {
    const given = positions.filter((position) => (node.input[position] ?? '') !== '');
    const isScaled = given.includes(positions[0] ?? 0);
    return isScaled ? all(...given.map((position) => constant(scaled, node, position, by))) : undefined;
  };

const product: ScaleRule = (scaled, node, by) => {
  const { graph, index, names } = scaled;
  const weight = productWeight(graph, node, []);
  if (weight === undefined || outputsOf(weight) !== by.length) return undefined;
  // Other graphs may use a weight of an outer one.
  if (!graph.initializers.has(weight.tensor.name)) return undefined;
  if (index.uses(weight.tensor.name).some((use) => use.node !== node)) return undefined;
  const bias = node.input[2] ? constant(scaled, node, 2, by) : [];
  return all(bias, [
    () => {
      const { tensor, inputAxis } = productWeight(graph, node, []) ?? weight;
      const name = names.make(`${tensor.name}_scaled`);
      graph.put(scaledAlong(tensor, name, 1 - inputAxis, by));
      node.input[weightAt] = name;
    },
  ]);
};

const rules: ReadonlyMap<string, ScaleRule> = new Map([
  ...['Relu', 'LeakyRelu', 'Identity'].map((name): [string, ScaleRule] => [name, commuting]),
  ['Add', sum],
  ['Sub', sum],
  ['Mul', factor],
  ['Div', quotient],
  ['MatMul', product],
  ['Gemm', product],
  ['LayerNormalization', normalization([1, 2])],
  ...['SimplifiedLayerNormalization', 'RMSNormalization'].map((name): [string, ScaleRule] => [
    name,
    normalization([1]),
  ]),
  ['com.microsoft.SkipLayerNormalization', normalization([2, 3])],
  ['com.microsoft.SkipSimplifiedLayerNormalization', normalization([2])],
]);
