import { type Graph, isExcluded } from '../../model/graph/graph.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { Tensor } from '../../model/tensor/tensor.ts';
import { moving, usesIn, weightPositions } from './fold-widened.ts';

/** Reason why the node of one of these weights stays as it is. */
export const usedInFloat = 'its weight is also needed in float: a second copy would make the file larger';

/**
 * Return the tables of Gather that a node needs in float as well: one that is excluded or not of `operators`, one for
 * which the method has no form (`takes`), or an output of a graph. Other weights count if they are an output.
 */
export function floatTables(
  root: Graph,
  exclude: readonly string[],
  operators: readonly string[],
  takes: (node: NodeProto) => boolean = () => true,
): Set<Tensor> {
  const uses = usesIn(root);
  const isWeight = (name: string): boolean =>
    (uses.get(name) ?? []).every((use) => {
      if (use === 'output') return false;
      const { node, position } = use;
      if (moving.has(node.opType) && position === 0) return isWeight(node.output[0] ?? '');
      const isTaken = operators.includes(node.opType) && weightPositions[node.opType]?.includes(position);
      return isTaken === true && !isExcluded(node, exclude) && takes(node);
    });
  const tables = outputWeights(root, uses);
  for (const graph of root.all())
    for (const { opType, input } of graph.nodes) {
      const tensor = opType === 'Gather' ? graph.initializer(input[0] ?? '') : undefined;
      if (tensor !== undefined && !isWeight(tensor.name)) tables.add(tensor);
    }
  return tables;
}

/** Return the names of the constants that are outputs of a graph as well. */
export const outputNames = (root: Graph): Set<string> =>
  new Set([...outputWeights(root)].map(({ name }) => name));

/** Return the constants that are outputs of a graph as well, as they are or moved. */
function outputWeights(root: Graph, uses = usesIn(root)): Set<Tensor> {
  const isOutput = (name: string): boolean =>
    (uses.get(name) ?? []).some(
      (use) =>
        use === 'output' ||
        (moving.has(use.node.opType) && use.position === 0 && isOutput(use.node.output[0] ?? '')),
    );
  const weights = new Set<Tensor>();
  for (const graph of root.all())
    for (const tensor of graph.initializers.values()) if (isOutput(tensor.name)) weights.add(tensor);
  return weights;
}
