import { drawable } from '../../../drawing/drawn-text.ts';
import type { ConfigGraph } from '../config-graph.ts';
import { clip } from './clip.ts';
import { type DrawnPart, drawnPart } from './drawn-part.ts';
import { colours, styleOf } from './drawn-style.ts';
import { nodeText } from './node-text.ts';

/** Mermaid's default limits (`maxEdges`, `maxTextSize`). */
const maxEdges = 500;

/** Label lengths to try until the text stays below the limit. The last one always fits. */
const labelLengths = [60, 30, 15, 8, 3] as const;

const maxCharacters = 50_000;

/** Render the graph as a Mermaid flowchart. Cut a large graph to Mermaid's limits and add a node with a note. */
export function renderMermaid(graph: ConfigGraph): string {
  const part = drawnPart(graph, maxEdges);
  let text = '';
  for (const length of labelLengths) {
    text = flowchart(graph, part, length);
    if (text.length <= maxCharacters) break;
  }
  return text;
}

function flowchart({ kind }: ConfigGraph, { nodes, edges, note }: DrawnPart, length: number): string {
  const names = new Map(nodes.map(({ node }, index) => [node.id, `n${index}`]));
  const classes = new Map<string, string>();
  const lines = [kind === 'structure' ? 'flowchart LR' : 'flowchart TD'];
  if (note !== undefined) lines.push(`  note["${escaped(note)}"]`);
  for (const { node, inCycle } of nodes) {
    const { fill, stroke } = styleOf(kind, node.type);
    const style = `fill:${fill},stroke:${inCycle ? `${colours.cycle},stroke-width:3px` : stroke},color:${colours.text}`;
    const name = classes.get(style) ?? `c${classes.size}`;
    classes.set(style, name);
    lines.push(`  ${names.get(node.id)}["${escaped(clip(nodeText(kind, node), length))}"]:::${name}`);
  }
  for (const { edge } of edges) {
    const arrow = kind === 'structure' && edge.label !== '' ? '-.->' : '-->';
    const text = edge.label === '' ? '' : `|"${escaped(clip(edge.label, length))}"|`;
    lines.push(`  ${names.get(edge.source)} ${arrow}${text} ${names.get(edge.target)}`);
  }
  for (const [style, name] of classes) lines.push(`  classDef ${name} ${style}`);
  return `${lines.join('\n')}\n`;
}

/** Escape every character that has a meaning in Mermaid, Markdown or HTML with Mermaid's entity codes. */
function escaped(text: string): string {
  const codes = drawable(text).replaceAll(
    /[^\p{L}\p{M}\p{N} .,_/=-]/gu,
    (character) => `#${character.codePointAt(0)};`,
  );
  return codes.trim() === '' ? '#32;' : codes;
}
