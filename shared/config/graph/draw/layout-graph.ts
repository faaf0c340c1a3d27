import { Graph, layout } from '@dagrejs/dagre';
import { curveBasis, line } from 'd3-shape';
import { fitted, textWidth } from '../../../drawing/drawn-text.ts';
import type { ConfigGraph } from '../config-graph.ts';
import type { DrawnEdge, DrawnPart } from './drawn-part.ts';
import { asideCurve, branchCurve, referenceCurve } from './edge-curves.ts';
import { layoutEdges } from './layout-edges.ts';
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
 * Most edges for ranking by network simplex. Beyond it, use a tight tree. Network simplex makes edges slightly
 * shorter, but takes seconds to minutes on dense graphs with some hundred edges.
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

function asideEdge(drawn: DrawnEdge, from: PlacedNode, to: PlacedNode, text: string): PlacedEdge {
  const { path, middle } = asideCurve(from, to);
  const label = text === '' ? undefined : { text, ...middle, width: textWidth(text, detailSize) + 8 };
  return { drawn, path, label, aside: from !== to };
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
