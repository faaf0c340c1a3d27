import type { ConfigGraph, ConfigGraphEdge, ConfigGraphNode } from '../config-graph.ts';

interface DrawnNode {
  node: ConfigGraphNode;
  inCycle: boolean;
}

export interface DrawnEdge {
  edge: ConfigGraphEdge;
  /** Whether both ends lie on one cycle, so the edge is part of it. */
  inCycle: boolean;
}

/** Nodes and edges of a graph that are drawn. */
export interface DrawnPart {
  nodes: DrawnNode[];
  edges: DrawnEdge[];
  /** Note about omitted nodes and edges; undefined if the drawing is complete. */
  note: string | undefined;
}

const maxDrawnEdges = 1000;

/** Maximum number of nodes of a drawing. Larger drawings are illegible and slow to lay out. */
const maxDrawnNodes = 500;

/** Select the first nodes of a graph in breadth-first order from its roots, and the edges between them. */
export function drawnPart(graph: ConfigGraph, maxEdges = maxDrawnEdges): DrawnPart {
  const cycleOf = new Map(
    graph.cycles.flatMap((cycle, index) => cycle.map((id): [string, number] => [id, index])),
  );
  const chosen = graph.nodes.length > maxDrawnNodes ? breadthFirst(graph) : undefined;
  const nodes = graph.nodes
    .filter(({ id }) => chosen?.has(id) ?? true)
    .map((node) => ({ node, inCycle: cycleOf.has(node.id) }));
  const edges = graph.edges
    .filter(({ source, target }) => chosen === undefined || (chosen.has(source) && chosen.has(target)))
    .slice(0, maxEdges)
    .map((edge) => ({
      edge,
      inCycle: cycleOf.has(edge.source) && cycleOf.get(edge.source) === cycleOf.get(edge.target),
    }));
  return { nodes, edges, note: omissionNote(graph, nodes.length, edges.length) };
}

function breadthFirst({ nodes, edges, roots }: ConfigGraph): ReadonlySet<string> {
  const successors = new Map<string, string[]>();
  for (const { source, target } of edges) {
    const targets = successors.get(source);
    if (targets === undefined) successors.set(source, [target]);
    else targets.push(target);
  }
  const chosen = new Set<string>();
  // Nodes that no root reaches come last. They lie on cycles or behind one. A set may grow during its iteration.
  for (const start of [roots, nodes.map(({ id }) => id)].flat()) {
    if (chosen.size >= maxDrawnNodes) break;
    const reached = new Set(chosen.has(start) ? [] : [start]);
    for (const id of reached) {
      if (chosen.size >= maxDrawnNodes) break;
      chosen.add(id);
      for (const next of successors.get(id) ?? []) if (!chosen.has(next)) reached.add(next);
    }
  }
  return chosen;
}

function omissionNote(graph: ConfigGraph, nodes: number, edges: number): string | undefined {
  const lessNodes = graph.nodes.length - nodes;
  const lessEdges = graph.edges.length - edges;
  if (lessNodes === 0 && lessEdges === 0) return undefined;
  const left = [counted(lessNodes, 'node'), counted(lessEdges, 'edge')].filter(
    (part) => !part.startsWith('0 '),
  );
  return `Too large to draw completely: ${left.join(' and ')} left out. The JSON form contains all.`;
}

/** Format a count with its noun. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
