import type { ConfigGraph } from './config-graph.ts';
import { drawnPart } from './drawn-part.ts';
import { styleOf } from './drawn-style.ts';
import { drawable } from './drawn-text.ts';
import { clip } from './clip.ts';

/** Mermaid's own limits, as it is configured where nobody configures it (`maxEdges`, `maxTextSize`). */
const maxEdges = 500;
const maxCharacters = 50_000;
const labelLength = 60;

/**
 * The graph as a Mermaid flowchart. Large graphs are cut to what Mermaid draws by default,
 * with a note as a node of its own.
 */
export function renderMermaid(graph: ConfigGraph): string {
  const part = drawnPart(graph, maxEdges);
  const names = new Map(part.nodes.map(({ node }, index) => [node.id, `n${index}`]));
  const lines = [graph.kind === 'structure' ? 'flowchart LR' : 'flowchart TD'];
  if (part.note !== undefined) lines.push(`  note["${label(part.note, 200)}"]`);
  const styles = new Map<string, string>();
  for (const { node, inCycle } of part.nodes) {
    const { fill, stroke } = styleOf(graph.kind, node.type);
    const definition = `fill:${fill},stroke:${inCycle ? '#c4211a,stroke-width:3px' : stroke},color:#1b1f24`;
    const sort = styles.get(definition) ?? `c${styles.size}`;
    styles.set(definition, sort);
    lines.push(`  ${names.get(node.id)}["${label(nodeText(graph.kind, node))}"]:::${sort}`);
  }
  for (const { edge } of part.edges) {
    const arrow = graph.kind === 'structure' && edge.label !== '' ? '-.->' : '-->';
    const text = edge.label === '' ? '' : `|"${label(edge.label)}"|`;
    lines.push(`  ${names.get(edge.source)} ${arrow}${text} ${names.get(edge.target)}`);
  }
  for (const [definition, sort] of styles) lines.push(`  classDef ${sort} ${definition}`);
  return shortened(lines);
}
