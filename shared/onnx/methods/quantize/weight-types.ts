import type { Graph } from '../../model/graph/graph.ts';
import { isFloatTensor } from '../../model/tensor/values.ts';
import { weightPositions } from './fold-widened.ts';

/**
 * Return a sentence that names the types of float weights other than float32, for the error that a method found no
 * weights. `half` is what can be done with half precision. Empty if there are none.
 */
export function weightTypes(root: Graph, half = ''): string {
  const types = new Set<string>();
  for (const graph of root.all())
    for (const node of graph.nodes)
      for (const position of weightPositions[node.opType] ?? []) {
        const tensor = graph.initializer(node.input[position] ?? '');
        if (tensor !== undefined && tensor.type !== 'float' && isFloatTensor(tensor)) types.add(tensor.type);
      }
  if (types.size === 0) return '';
  return ` Its weights are ${[...types].join(' and ')}.${types.has('double') ? '' : half}`;
}
