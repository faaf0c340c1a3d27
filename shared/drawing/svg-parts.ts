import { colours, labelSize } from './drawing-style.ts';
import { escapeXml } from './drawn-text.ts';

/** Format a coordinate with one decimal. */
export const at = (value: number): string => String(Math.round(value * 10) / 10);

interface TextStyle {
  size?: number;
  colour?: string;
  bold?: boolean;
  anchor?: 'start' | 'middle' | 'end';
}

/** Draw a line of text. Its base line begins at the point, or ends there with an `end` anchor. Escape the text. */
export function textAt(text: string, x: number, y: number, style: TextStyle = {}): string {
  const { size = labelSize, colour = colours.faintText, bold = false, anchor = 'start' } = style;
  const more = `${bold ? ' font-weight="bold"' : ''}${anchor === 'start' ? '' : ` text-anchor="${anchor}"`}`;
  return `<text x="${at(x)}" y="${at(y)}" font-size="${size}" fill="${colour}"${more}>${escapeXml(text)}</text>`;
}

/** Draw a bold name followed by a description. The viewer's font decides the gap between them. */
export function namedText(name: string, text: string, x: number, y: number): string {
  const bold =
    name === '' ? '' : `<tspan font-weight="bold" fill="${colours.text}">${escapeXml(name)}</tspan>`;
  const rest = `<tspan${name === '' ? '' : ' dx="8"'}>${escapeXml(text)}</tspan>`;
  return `<text x="${at(x)}" y="${at(y)}" font-size="${labelSize}" fill="${colours.faintText}">${bold}${rest}</text>`;
}

export function lineBetween(
  from: readonly [number, number],
  to: readonly [number, number],
  colour: string,
): string {
  return `<line x1="${at(from[0])}" y1="${at(from[1])}" x2="${at(to[0])}" y2="${at(to[1])}" stroke="${colour}"/>`;
}

/** Draw a dot, filled or as a ring, with a tooltip. */
export function dot(
  x: number,
  y: number,
  radius: number,
  colour: string,
  hover: string,
  isRing = false,
): string {
  const paint = isRing ? `fill="${colours.panel}" stroke="${colour}" stroke-width="2"` : `fill="${colour}"`;
  return `<circle cx="${at(x)}" cy="${at(y)}" r="${radius}" ${paint}><title>${escapeXml(hover)}</title></circle>`;
}
