import { intsAttribute } from '../../../model/graph/attributes.ts';
import type { Graph } from '../../../model/graph/graph.ts';
import { GraphIndex } from '../../../model/graph/graph-index.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';

/** Operators that ONNX Runtime removes if they change nothing, before it joins a Transpose with a product. */
const passing = new Set(['Identity', 'Dropout', 'Cast', 'Reshape', 'Expand']);
const passingWithConstant = new Set(['Mul', 'Div', 'Add', 'Sub']);

/** Whether a permutation moves the first axis to the last or second-last position. */
function movesFirstAxis(node: NodeProto): boolean {
  const perm = node.opType === 'Transpose' ? intsAttribute(node, 'perm') : undefined;
  if (perm === undefined) return false;
  const rank = perm.length;
  const rest = Array.from({ length: rank - 1 }, (_, at) => at + 1);
  const before = [...rest.slice(0, -1), 0, rank - 1];
  return rank > 2 && [before, [...rest, 0]].some((one) => one.join() === perm.join());
}

/**
 * Find each Transpose that swaps the batch axes of a value that is multiplied with a constant weight. With all
 * graph optimizations, ONNX Runtime 1.30 and 1.32 crash on x86-64 when they open such a pattern in half precision:
 * they convert the weight to float32, join both nodes, and then look for a layout. They do not touch a Transpose
 * of float32.
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
