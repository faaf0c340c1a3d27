import { type Graph, isExcluded } from '../../model/graph/graph.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { Tensor } from '../../model/tensor/tensor.ts';
import { moving, usesIn, weightPositions } from './fold-widened.ts';

/** Reason why a lookup in one of the {@link floatTables} stays as it is. */
export const usedInFloat = 'other nodes use its table in float: a second copy would make the file larger';

/**
 * Return the tables of Gather that a node needs in float as well: one that is excluded or not of `operators`, one for
 * which the method has no form (`takes`), or an output of a graph.
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
  const tables = new Set<Tensor>();
  for (const graph of root.all())
    for (const { opType, input } of graph.nodes) {
      const tensor = opType === 'Gather' ? graph.initializer(input[0] ?? '') : undefined;
      if (tensor !== undefined && !isWeight(tensor.name)) tables.add(tensor);
    }
  return tables;
}
