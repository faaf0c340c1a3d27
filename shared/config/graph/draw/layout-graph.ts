import { Graph, layout } from '@dagrejs/dagre';
import { curveBasis, line } from 'd3-shape';
import { fitted, textWidth } from '../../../drawing/drawn-text.ts';
import type { ConfigGraph } from '../config-graph.ts';
import type { DrawnEdge, DrawnPart } from './drawn-part.ts';
import { detailSize, type NodeCard, nodeCard } from './node-card.ts';

export interface PlacedNode extends NodeCard {
  left: number;
  top: number;
}

export interface PlacedEdge {
  drawn: DrawnEdge;
  /** SVG path data, from source to target. */
  path: string;
  label: { text: string; x: number; y: number; width: number } | undefined;
  /** Whether the edge did not influence the node positions: references, and far connections in large graphs. */
  aside: boolean;
}

interface GraphLayout {
  nodes: Map<string, PlacedNode>;
  edges: PlacedEdge[];
  width: number;
  height: number;
}

/**
 * Maximum number of edges for ranking by network simplex. Beyond it, use a tight tree. Network simplex makes edges
 * slightly shorter, but takes seconds to minutes on dense graphs with some hundred edges.
 */
const maxSimplexEdges = 150;

const curve = line<{ x: number; y: number }>(
  (point) => point.x,
  (point) => point.y,
)
  .curve(curveBasis)
  .digits(1);

/** Compute node positions and edge paths: trees from left to right, flows downwards. */
export function layoutGraph(kind: ConfigGraph['kind'], part: DrawnPart): GraphLayout {
  const tree = kind === 'structure';
  const cards = new Map(part.nodes.map(({ node }) => [node.id, nodeCard(kind, node)]));
  const placing = layoutEdges(tree, part);
  const graph = new Graph<
    object,
    NodeCard & { x?: number; y?: number },
    { points?: { x: number; y: number }[]; x?: number; y?: number }
  >();
  const ranker = placing.length > maxSimplexEdges ? { ranker: 'tight-tree' } : {};
  graph.setGraph(
    tree
      ? { rankdir: 'LR', nodesep: 8, ranksep: 56, rankalign: 'top' }
      : { rankdir: 'TB', nodesep: 36, edgesep: 24, ranksep: 44, ...ranker },
  );
  const names = namesForLayout(cards.keys());
  const nameOf = (id: string): string => names.get(id) ?? '';
  for (const [id, card] of cards) graph.setNode(nameOf(id), { ...card });
  for (const { edge } of placing) {
    const text = edgeLabel(edge.label);
    const size =
      tree || text === '' ? { width: 0, height: 0 } : { width: textWidth(text, detailSize) + 8, height: 18 };
    graph.setEdge(nameOf(edge.source), nameOf(edge.target), { ...size, labelpos: 'c' });
  }
  layout(graph, { disableOptimalOrderHeuristic: tree });
  const nodes = new Map<string, PlacedNode>();
  for (const [id, card] of cards) {
    const { x = 0, y = 0 } = graph.node(nameOf(id));
    nodes.set(id, { ...card, left: x - card.width / 2, top: y - card.height / 2 });
  }
  const inFlow = new Set(placing);
  const branches = new Set(placing.map(({ edge }) => edge.source));
  const edges = part.edges.map((drawn): PlacedEdge => {
    const { source, target, label } = drawn.edge;
    const from = nodes.get(source);
    const to = nodes.get(target);
    if (from === undefined || to === undefined) return { drawn, path: '', label: undefined, aside: true };
    if (!inFlow.has(drawn) && tree)
      return { drawn, path: referenceCurve(from, to, branches.has(target)), label: undefined, aside: true };
    if (!inFlow.has(drawn)) return asideEdge(drawn, from, to, source === target ? '' : edgeLabel(label));
    if (tree) return { drawn, path: branchCurve(from, to), label: undefined, aside: false };
    const { points = [], x = 0, y = 0 } = graph.edge(nameOf(source), nameOf(target));
    const text = edgeLabel(label);
    const placed = text === '' ? undefined : { text, x, y, width: textWidth(text, detailSize) + 8 };
    return { drawn, path: curve(points) ?? '', label: placed, aside: false };
  });
  return { nodes, edges, ...extent(nodes, edges) };
}

/**
 * Most ranks that all edges together may cross. The layout adds a node for each crossed rank, and its time grows
 * faster than the square of their number. A tree or chain of 500 nodes needs 499.
 */
const maxCrossedRanks = 600;

/**
 * Select the edges that decide the node positions: the branches of a tree, all edges of a small flow, or the edges
 * of a large flow that cross the fewest ranks. Skip edges from a node to itself.
 */
function layoutEdges(tree: boolean, { nodes, edges }: DrawnPart): DrawnEdge[] {
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

/**
 * Give each node a generated name for the layout. The library uses names as keys of plain objects, where an ID
 * such as `__proto__` would change every object of the process.
 */
function namesForLayout(ids: Iterable<string>): ReadonlyMap<string, string> {
  return new Map(Array.from(ids, (id, index) => [id, `n${index}`]));
}

const maxLabelWidth = 200;

function edgeLabel(label: string): string {
  return label === '' ? '' : fitted(label, maxLabelWidth, detailSize);
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

const gap = 40;

/**
 * Draw a curve outside of the tree. Nothing is to the right of a leaf, so the curve ends at its right side. A
 * curve reaches a box with members through the gap between columns. It ends at the box's right side if it comes
 * from further right, otherwise at the left side.
 */
function referenceCurve(from: Box, to: Box, targetHasMembers: boolean): string {
  if (!targetHasMembers) return asideCurve(from, to).path;
  const [y1, y2] = [from.top + from.height / 2, to.top + to.height / 2];
  const right = to.left + to.width;
  if (right < from.left) return bezier(from.left, y1, from.left - gap, y1, right + gap, y2, right, y2);
  const swing = Math.min(from.left, to.left) - gap;
  return bezier(from.left, y1, swing, y1, swing, y2, to.left, y2);
}

/** Smallest and largest bend to the right of an edge outside of the layout, in pixels. */
const leastSwing = 30;

const mostSwing = 140;

/**
 * Draw a curve from the right side of one box to the right side of another, around the boxes between them. Draw a
 * loop if both are the same box.
 */
function asideCurve(from: Box, to: Box): { path: string; middle: { x: number; y: number } } {
  const apart = from === to ? from.height / 4 : 0;
  const [x1, y1] = [from.left + from.width, from.top + from.height / 2 - apart];
  const [x2, y2] = [to.left + to.width, to.top + to.height / 2 + apart];
  const swing = Math.max(x1, x2) + Math.min(leastSwing + Math.abs(y2 - y1) / 4, mostSwing);
  const middle = { x: (x1 + 6 * swing + x2) / 8, y: (y1 + y2) / 2 };
  return { path: bezier(x1, y1, swing, y1, swing, y2, x2, y2), middle };
}

function bezier(...points: [number, number, number, number, number, number, number, number]): string {
  const [x1, y1, cx1, cy1, cx2, cy2, x2, y2] = points.map((value) => value.toFixed(1));
  return `M${x1},${y1}C${cx1},${cy1},${cx2},${cy2},${x2},${y2}`;
}

function asideEdge(drawn: DrawnEdge, from: PlacedNode, to: PlacedNode, text: string): PlacedEdge {
  const { path, middle } = asideCurve(from, to);
  const label = text === '' ? undefined : { text, ...middle, width: textWidth(text, detailSize) + 8 };
  return { drawn, path, label, aside: from !== to };
}

/** Draw a curve from the right side of a branch to the left side of its child. */
function branchCurve(from: Box, to: Box): string {
  const [x1, y1, x2, y2] = [
    from.left + from.width,
    from.top + from.height / 2,
    to.left,
    to.top + to.height / 2,
  ];
  const turn = Math.max((x2 - x1) / 2, 12);
  return bezier(x1, y1, x1 + turn, y1, x2 - turn, y2, x2, y2);
}

/** Compute the size of the drawing from 0, 0. Numbers in a path come in pairs, including control points. */
function extent(
  nodes: ReadonlyMap<string, PlacedNode>,
  edges: readonly PlacedEdge[],
): { width: number; height: number } {
  let width = 0;
  let height = 0;
  for (const node of nodes.values()) {
    width = Math.max(width, node.left + node.width);
    height = Math.max(height, node.top + node.height);
  }
  for (const { path, label } of edges) {
    for (const [, x, y] of path.matchAll(/(-?[\d.]+)[ ,](-?[\d.]+)/g)) {
      width = Math.max(width, Number(x));
      height = Math.max(height, Number(y));
    }
    if (label !== undefined) width = Math.max(width, label.x + label.width / 2);
  }
  return { width, height };
}
