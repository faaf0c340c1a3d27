import { drawable } from '../../../drawing/drawn-text.ts';
import type { ConfigGraph } from '../config-graph.ts';
import { clip } from './clip.ts';
import { drawnPart } from './drawn-part.ts';
import { colours, styleOf } from './drawn-style.ts';
import { nodeText } from './node-text.ts';

const labelLength = 80;

/** Render the graph as a Graphviz digraph. Cut a large graph like the drawing, with a note below. */
export function renderGraphviz(graph: ConfigGraph): string {
  const { nodes, edges, note } = drawnPart(graph);
  const names = new Map(nodes.map(({ node }, index) => [node.id, `n${index}`]));
  return [
    `digraph ${quoted(graph.config_id)} {`,
    `  graph [rankdir=${graph.kind === 'structure' ? 'LR' : 'TB'}${note === undefined ? '' : `, label=${quoted(note)}`}]`,
    `  node [shape=box, style="rounded,filled", fontname="Helvetica", fontcolor="${colours.text}"]`,
    `  edge [fontname="Helvetica", fontsize=10, color="${colours.edge}"]`,
    ...nodes.map(({ node, inCycle }) => {
      const { fill, stroke } = styleOf(graph.kind, node.type);
      const line = inCycle ? `color="${colours.cycle}", penwidth=2` : `color="${stroke}"`;
      return `  ${names.get(node.id)} [label=${quoted(clip(nodeText(graph.kind, node), labelLength))}, tooltip=${quoted(node.id)}, fillcolor="${fill}", ${line}]`;
    }),
    ...edges.map(({ edge, inCycle }) => {
      const isReference = graph.kind === 'structure' && edge.label !== '';
      const style = isReference ? `, style=dashed, constraint=false, color="${colours.reference}"` : '';
      const line = inCycle ? `, color="${colours.cycle}", penwidth=2` : style;
      return `  ${names.get(edge.source)} -> ${names.get(edge.target)} [label=${quoted(clip(edge.label, labelLength))}${line}]`;
    }),
    '}\n',
  ].join('\n');
}

/**
 * Quote a text as a DOT string. Graphviz interprets both backslashes and HTML entities in labels, so escape them.
 */
function quoted(text: string): string {
  const plain = drawable(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `"${plain.replaceAll('&', '&amp;')}"`;
}
