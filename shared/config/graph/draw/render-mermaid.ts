import { drawable } from '../../../drawing/drawn-text.ts';
import type { ConfigGraph } from '../config-graph.ts';
import { clip } from './clip.ts';
import { type DrawnPart, drawnPart } from './drawn-part.ts';
import { colours, styleOf } from './drawn-style.ts';
import { nodeText } from './node-text.ts';

/** Mermaid's default limits (`maxEdges`, `maxTextSize`). */
const maxEdges = 500;

/** Label lengths, the first of which the text stays below the limit with; the last always does. */
const labelLengths = [60, 30, 15, 8, 3] as const;

const maxCharacters = 50_000;

/** The graph as a Mermaid flowchart. Large graphs are cut to Mermaid's limits, with a node that notes it. */
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

/** Mermaid's entity codes for everything that means something to it, to Markdown or to HTML. */
function escaped(text: string): string {
  const codes = drawable(text).replaceAll(
    /[^\p{L}\p{M}\p{N} .,_/=-]/gu,
    (character) => `#${character.codePointAt(0)};`,
  );
  return codes.trim() === '' ? '#32;' : codes;
}
