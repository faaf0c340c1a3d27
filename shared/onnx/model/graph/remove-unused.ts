import type { Graph } from './graph.ts';
import { outerNames } from './graph-index.ts';

/** Remove unused nodes, then unused constants, including those in bodies. */
export function removeUnused(graph: Graph): void {
  const used = new Set(graph.outputs.map(({ name }) => name));
  const kept = [];
  for (const node of graph.nodes.toReversed()) {
    if (!node.output.some((name) => used.has(name))) continue;
    for (const body of graph.bodiesOf(node)) removeUnused(body);
    for (const name of [...node.input, ...outerNames(graph, node)]) used.add(name);
    kept.push(node);
  }
  graph.nodes = kept.reverse();
  for (const name of graph.initializers.keys()) if (!used.has(name)) graph.initializers.delete(name);
}
