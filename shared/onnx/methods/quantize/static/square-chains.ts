import type { Graph } from '../../../model/graph/graph.ts';
import type { GraphIndex } from '../../../model/graph/graph-index.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { operatorsBetween } from './static-operators.ts';

/** Operators that spread small values again, and the position of the input whose small values count. */
const spreading: ReadonlyMap<string, number> = new Map([
  ['Sqrt', 0],
  ['Log', 0],
  ['Reciprocal', 0],
  ['Div', 1],
]);

/**
 * Operators whose results are as small as what they read. Sigmoid and Softmax saturate, so their results fit into 8
 * bits. The others are float in any case.
 */
const carrying: ReadonlySet<string> = new Set([
  ...operatorsBetween.filter((operator) => operator !== 'Sigmoid' && operator !== 'Softmax'),
  ...'Abs Cast Expand Identity Max Min Neg ReduceMax ReduceMean ReduceSum Sub Sum'.split(' '),
]);

/**
 * Return the nodes of a graph that stay float because they compute with squares: squares themselves, nodes that read
 * nothing but squares, and nodes whose results are only read by a root, a logarithm or as a divisor. Of the squares of
 * a spectrum or a variance, all below a 255th of the largest would become 0 in 8 bits, which is a sixteenth of the
 * value itself.
 *
 * The nodes are in topological order.
 */
export function squareChains(graph: Graph, index: GraphIndex): Set<NodeProto> {
  const squares = new Set<NodeProto>();
  const isSquared = (name: string): boolean => {
    const producer = index.producer(name);
    return producer !== undefined && squares.has(producer);
  };
  for (const node of graph.nodes) {
    const [first, second] = node.input;
    const computed = node.input.filter((name) => name !== '' && !graph.initializers.has(name));
    const isSquare = node.opType === 'Pow' || (node.opType === 'Mul' && first === second);
    const readsSquares = carrying.has(node.opType) && computed.length > 0 && computed.every(isSquared);
    if (isSquare || readsSquares) squares.add(node);
  }

  const beforeRoots = new Set<NodeProto>();
  for (const node of graph.nodes.toReversed()) {
    if (!carrying.has(node.opType)) continue;
    const uses = node.output.flatMap((name) => index.uses(name));
    const areSpread = uses.every(
      ({ node: user, position }) => spreading.get(user.opType) === position || beforeRoots.has(user),
    );
    if (areSpread && uses.length > 0 && !node.output.some((name) => index.isOutput(name)))
      beforeRoots.add(node);
  }
  return new Set([...squares, ...beforeRoots]);
}
