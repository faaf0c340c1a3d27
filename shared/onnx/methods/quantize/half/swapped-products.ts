import { intsAttribute } from '../../../model/graph/attributes.ts';
import type { Graph } from '../../../model/graph/graph.ts';
import { GraphIndex } from '../../../model/graph/graph-index.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';

/** Operators that ONNX Runtime removes, where they change nothing, before it joins a Transpose with a product. */
const passing = new Set(['Identity', 'Dropout', 'Cast', 'Reshape', 'Expand']);
const passingWithConstant = new Set(['Mul', 'Div', 'Add', 'Sub']);

/** Whether a permutation moves the first axis behind all others but the last one, or behind that, too. */
function movesFirstAxis(node: NodeProto): boolean {
  const perm = node.opType === 'Transpose' ? intsAttribute(node, 'perm') : undefined;
  if (perm === undefined) return false;
  const rank = perm.length;
  const rest = Array.from({ length: rank - 1 }, (_, at) => at + 1);
  const before = [...rest.slice(0, -1), 0, rank - 1];
  return rank > 2 && [before, [...rest, 0]].some((one) => one.join() === perm.join());
}

/**
 * Finds each Transpose that swaps the batch axes of what a constant weight is multiplied with. In half precision ONNX
 * Runtime 1.30 and 1.32 crash on x86-64 when they open such a form with all optimizations of graphs: they make float32 of
 * the weight, join both nodes, and then look for a layout. A Transpose of float32 they leave alone.
 */
export function swappedProducts(graph: Graph): Set<NodeProto> {
  const index = new GraphIndex(graph);
  const reachesProduct = (name: string): boolean =>
    index.uses(name).some(({ node: { opType, input, output }, position }) => {
      const isWithConstant = graph.initializer(input[1 - position] ?? '') !== undefined;
      return passing.has(opType) || (passingWithConstant.has(opType) && isWithConstant)
        ? reachesProduct(output[0] ?? '')
        : opType === 'MatMul' && isWithConstant;
    });
  return new Set(graph.nodes.filter((node) => movesFirstAxis(node) && reachesProduct(node.output[0] ?? '')));
}
