import { type Graph, makeNode, type Names } from '../../model/graph/graph.ts';
import { GraphIndex } from '../../model/graph/graph-index.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { makeTensor } from '../../model/tensor/tensor.ts';
import { usesIn } from './fold-widened.ts';
import { inputsOf, type ProductWeight, productWeight, scaledAlong, weightAt } from './product-weights.ts';
import { scalingsOf } from './scale-producer.ts';
import { ownedConstant } from './weight-store.ts';

export interface Divided {
  /** Factors that values were divided by, by the name of the divided value. */
  factors: ReadonlyMap<string, { of: string; by: Float32Array }>;
  /** Number of values that an inserted node divides. */
  nodes: number;
}

/** Return the factor that divides each channel of an activation of these products. Undefined to leave it unchanged. */
type FactorsOf = (activation: string, products: readonly ProductWeight[]) => Float32Array | undefined;

/**
 * Divide the channels of activations, and multiply the weights of the products that use them. The model computes the
 * same. The factors go into the preceding nodes if these have constants for them and serve these products alone,
 * otherwise into a Mul. A weight that other nodes share stays as it is: it would be stored twice.
 */
export function divideActivations(
  graph: Graph,
  names: Names,
  exclude: readonly string[],
  factorsOf: FactorsOf,
): Divided {
  const index = new GraphIndex(graph);
  const uses = usesIn(rootOf(graph));
  const inserted = new Map<NodeProto, NodeProto>();
  const factors = new Map<string, { of: string; by: Float32Array }>();
  for (const [activation, products] of groupsOf(graph, exclude)) {
    const own = new Set(products.map(({ node }) => node));
    const isOwn = (name: string): boolean => index.uses(name).every(({ node }) => own.has(node));
    const [first] = products;
    const isAlone = ({ tensor }: ProductWeight): boolean =>
      uses.get(tensor.name)?.every((use) => use !== 'output' && own.has(use.node)) === true;
    if (first === undefined || !products.every(isAlone)) continue;
    const by = factorsOf(activation, products);
    if (by === undefined || products.some((product) => inputsOf(product) !== by.length)) continue;
    for (const product of products) {
      const name = names.make(`${product.tensor.name}_scaled`);
      const { owner } = ownedConstant(graph, product.tensor.name) ?? { owner: graph };
      owner.put(scaledAlong(product.tensor, name, product.inputAxis, by));
      product.node.input[weightAt] = name;
    }
    const inverse = by.map((factor) => 1 / factor);
    const isShared = index.isOutput(activation) || !isOwn(activation);
    const scalings = !isShared
      ? scalingsOf({ graph, index, names, exclude }, activation, inverse)
      : undefined;
    if (scalings !== undefined) {
      for (const scale of scalings) scale();
      factors.set(activation, { of: activation, by });
      continue;
    }
    const scaled = names.make(`${activation}_scaled`);
    const factor = graph.put(
      makeTensor(names.make(`${activation}_factors`), 'float', [inverse.length], inverse),
    );
    for (const { node } of products) node.input[0] = scaled;
    inserted.set(
      first.node,
      makeNode('Mul', [activation, factor.name], [scaled], { name: names.make(`${scaled}_Mul`) }),
    );
    factors.set(scaled, { of: activation, by });
  }
  graph.nodes = graph.nodes.flatMap((node) => {
    const before = inserted.get(node);
    return before === undefined ? [node] : [before, node];
  });
  return { factors, nodes: inserted.size };
}

/** Return the main graph of a graph. */
const rootOf = (graph: Graph): Graph => (graph.parent === undefined ? graph : rootOf(graph.parent));

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
