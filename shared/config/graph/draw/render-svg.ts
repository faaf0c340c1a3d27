import { font } from '../../../drawing/drawing-style.ts';
import { escapeXml, fitted, textWidth } from '../../../drawing/drawn-text.ts';
import type { ConfigGraph } from '../config-graph.ts';
import { counted, type DrawnPart, drawnPart } from './drawn-part.ts';
import { colours, type NodeStyle, styleOf } from './drawn-style.ts';
import { layoutGraph, type PlacedEdge, type PlacedNode } from './layout-graph.ts';
import { cardText, detailSize, titleSize } from './node-card.ts';

const minLegendWidth = 420;

const lineHeight = 18;

const margin = 24;

/**
 * Render the graph as a standalone SVG 1.1 document without script, style sheet or external resource. Draw at most
 * 500 nodes and note how many are missing.
 */
export function renderSvg(graph: ConfigGraph): string {
  const part = drawnPart(graph);
  const { nodes, edges, width, height } = layoutGraph(graph.kind, part);
  const lines = headLines(graph, part);
  const styles = new Map(part.nodes.map(({ node }) => [node.id, styleOf(graph.kind, node.type)]));
  const legend = legendOf([...styles.values()], Math.max(width, minLegendWidth));
  const headHeight = lines.length * lineHeight + 20;
  const fullWidth = Math.ceil(Math.max(width, legend.width, ...lines.map(lineWidth)) + 2 * margin);
  const fullHeight = Math.ceil(headHeight + height + legend.height + 2 * margin);
  const title = escapeXml(`${graph.config_id}: ${summary(graph)}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${fullWidth}" height="${fullHeight}" viewBox="0 0 ${fullWidth} ${fullHeight}" role="img" aria-label="${title}" font-family="${font}">`,
    `<title>${title}</title>`,
    `<defs>${[colours.edge, colours.reference, colours.cycle].map(arrowHead).join('')}</defs>`,
    `<rect width="100%" height="100%" fill="${colours.background}"/>`,
    ...lines.map((line, index) => textLine(line, margin, margin + 12 + index * lineHeight)),
    `<g transform="translate(${((fullWidth - width) / 2).toFixed(1)} ${margin + headHeight})">`,
    ...edges.map(edgePath),
    ...part.nodes.map(({ node, inCycle }) => {
      const placed = nodes.get(node.id);
      const style = styles.get(node.id);
      return placed && style ? nodeBox(placed, style, inCycle, tooltip(node)) : '';
    }),
    ...edges.map(edgeText),
    '</g>',
    `<g transform="translate(${margin} ${(margin + headHeight + height).toFixed(1)})">${legend.svg}</g>`,
    '</svg>\n',
  ].join('\n');
}

interface Line {
  text: string;
  size: number;
  colour: string;
  bold: boolean;
}

const headingSize = 16;

const maxLineWidth = 700;

function headLines(graph: ConfigGraph, { note }: DrawnPart): Line[] {
  const small = { size: 12, bold: false };
  const listed = graph.cycles
    .slice(0, 10)
    .map((ids) => ids.slice(0, 20).join(', '))
    .join('; ');
  const cycles = graph.cycles.length === 0 ? [] : [`${counted(graph.cycles.length, 'cycle')}: ${listed}`];
  return [
    { text: graph.config_id, size: headingSize, colour: colours.text, bold: true },
    { text: summary(graph), colour: colours.faintText, ...small },
    ...cycles.map((text) => ({ text, colour: colours.cycle, ...small })),
    ...(note === undefined ? [] : [{ text: note, colour: colours.cycle, ...small }]),
  ].map((line) => ({ ...line, text: fitted(line.text, maxLineWidth, line.size, line.bold) }));
}

function summary({ kind, nodes, edges }: ConfigGraph): string {
  return `${kind}, ${counted(nodes.length, 'node')}, ${counted(edges.length, 'edge')}`;
}

const above = 22;

const rowHeight = 22;

/** Build a legend of colours and their names below a drawing. Return nothing if all nodes have one style. */
export function legendOf(
  styles: readonly NodeStyle[],
  maxWidth: number,
): { svg: string; width: number; height: number } {
  const sorts = [...new Map(styles.map((style) => [style.name, style])).values()];
  if (sorts.length < 2) return { svg: '', width: 0, height: 0 };
  let [x, y, width] = [0, above, 0];
  const items = sorts.map(({ name, fill, stroke }) => {
    const nameWidth = textWidth(name, detailSize);
    if (x > 0 && x + 20 + nameWidth > maxWidth) [x, y] = [0, y + rowHeight];
    const swatch = `<rect x="${x.toFixed(1)}" y="${y}" width="14" height="14" rx="3" fill="${fill}" stroke="${stroke}"/>`;
    const text = `<text x="${(x + 20).toFixed(1)}" y="${y + 11}" font-size="${detailSize}" fill="${colours.faintText}">${escapeXml(name)}</text>`;
    width = Math.max(width, x + 20 + nameWidth);
    x += 20 + nameWidth + 16;
    return swatch + text;
  });
  return { svg: items.join(''), width, height: y + rowHeight };
}

const lineWidth = ({ text, size, bold }: Line): number => textWidth(text, size, bold);

function arrowHead(colour: string): string {
  return `<marker id="${markerId(colour)}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,1L10,5L0,9Z" fill="${colour}"/></marker>`;
}

const markerId = (colour: string): string => `config-graph-arrow-${colour.slice(1)}`;

function textLine({ text, size, colour, bold }: Line, x: number, y: number): string {
  const weight = bold ? ' font-weight="bold"' : '';
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" fill="${colour}"${weight}>${escapeXml(text)}</text>`;
}

function edgePath(edge: PlacedEdge): string {
  const colour = edgeColour(edge);
  const dashes = edge.aside ? ' stroke-dasharray="5 4"' : '';
  const width = edge.drawn.inCycle ? 2.2 : 1.4;
  return `<path d="${edge.path}" fill="none" stroke="${colour}" stroke-width="${width}"${dashes} marker-end="url(#${markerId(colour)})"/>`;
}

function edgeColour({ drawn, aside }: PlacedEdge): string {
  return drawn.inCycle ? colours.cycle : aside ? colours.reference : colours.edge;
}

function nodeBox(node: PlacedNode, { fill, stroke }: NodeStyle, inCycle: boolean, hover: string): string {
  const line = inCycle
    ? `stroke="${colours.cycle}" stroke-width="2.5"`
    : `stroke="${stroke}" stroke-width="1.2"`;
  const valueX = cardText.x + textWidth(node.title, titleSize, true) + 8;
  return [
    `<g transform="translate(${node.left.toFixed(1)} ${node.top.toFixed(1)})"><title>${escapeXml(hover)}</title>`,
    `<rect width="${node.width.toFixed(1)}" height="${node.height.toFixed(1)}" rx="6" fill="${fill}" ${line}/>`,
    textLine(
      { text: node.title, size: titleSize, colour: colours.text, bold: true },
      cardText.x,
      cardText.title,
    ),
    node.value === ''
      ? ''
      : textLine(
          { text: node.value, size: detailSize, colour: colours.faintText, bold: false },
          valueX,
          cardText.title,
        ),
    ...node.details.map((text, index) =>
      textLine(
        { text, size: detailSize, colour: colours.faintText, bold: false },
        cardText.x,
        cardText.detail(index),
      ),
    ),
    '</g>',
  ].join('');
}

function tooltip({ id, type, attributes }: ConfigGraph['nodes'][number]): string {
  const details = Object.entries(attributes)
    .slice(0, 10)
    .map(([key, value]) => `${key}: ${value}`);
  return [`${id} (${type})`, ...details].join('; ');
}

function edgeText({ label, ...edge }: PlacedEdge): string {
  if (label === undefined) return '';
  const { text, x, y, width } = label;
  const back = `<rect x="${(x - width / 2).toFixed(1)}" y="${(y - 8).toFixed(1)}" width="${width.toFixed(1)}" height="16" rx="3" fill="${colours.background}"/>`;
  const colour = edge.drawn.inCycle || edge.aside ? edgeColour({ label, ...edge }) : colours.faintText;
  return `${back}<text x="${x.toFixed(1)}" y="${(y + 4).toFixed(1)}" font-size="${detailSize}" text-anchor="middle" fill="${colour}">${escapeXml(text)}</text>`;
}
