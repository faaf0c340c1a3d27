import type { DrawnEdge, DrawnPart } from './drawn-part.ts';

/**
 * Most ranks that all edges together may cross. The layout adds a node for each crossed rank, and its time grows
 * faster than the square of their number. A tree or chain of 500 nodes needs 499.
 */
const maxCrossedRanks = 600;

/**
 * Select the edges that decide the node positions: the branches of a tree, all edges of a small flow, or the edges
 * of a large flow that cross the fewest ranks. Skip edges from a node to itself.
 */
export function layoutEdges(tree: boolean, { nodes, edges }: DrawnPart): DrawnEdge[] {
  if (tree) return edges.filter(({ edge }) => edge.label === '');
  const between = edges.filter(({ edge }) => edge.source !== edge.target);
  const ranks = ranksOf(
    nodes.map(({ node }) => node.id),
    between,
  );
  const crossed = ({ edge }: DrawnEdge): number =>
    Math.max(1, Math.abs((ranks.get(edge.target) ?? 0) - (ranks.get(edge.source) ?? 0)));
  let rest = maxCrossedRanks;
  const kept = new Set(
    edges
      .toSorted((a, b) => crossed(a) - crossed(b))
      .filter((edge) => {
        rest -= crossed(edge);
        return rest >= 0;
      }),
  );
  return between.filter((edge) => kept.has(edge));
}

/** Compute the longest path to each node from a start. Enter a cycle at its first node. */
function ranksOf(ids: readonly string[], edges: readonly DrawnEdge[]): ReadonlyMap<string, number> {
  const successors = new Map(ids.map((id): [string, string[]] => [id, []]));
  const waiting = new Map(ids.map((id) => [id, 0]));
  for (const { edge } of edges) {
    successors.get(edge.source)?.push(edge.target);
    waiting.set(edge.target, (waiting.get(edge.target) ?? 0) + 1);
  }
  const ranks = new Map(ids.map((id) => [id, 0]));
  const done = new Set<string>();
  const starts = ids.filter((id) => waiting.get(id) === 0);
  for (const start of [...starts, ...ids]) {
    const queue = done.has(start) ? [] : [start];
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      done.add(id);
      for (const next of successors.get(id) ?? []) {
        if (done.has(next)) continue;
        const left = (waiting.get(next) ?? 0) - 1;
        waiting.set(next, left);
        ranks.set(next, Math.max(ranks.get(next) ?? 0, (ranks.get(id) ?? 0) + 1));
        if (left === 0) queue.push(next);
      }
    }
  }
  return ranks;
}
