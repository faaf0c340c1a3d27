import { scaleLinear, scaleLog } from 'd3-scale';
import { colours, labelSize, nameSize } from '../../drawing/drawing-style.ts';
import { escapeXml, fitted, textWidth } from '../../drawing/drawn-text.ts';
import { at, lineBetween, textAt } from '../../drawing/svg-parts.ts';

export interface Bar {
  value: number;
  text: string;
  colour: string;
}

export interface BarRow {
  label: string;
  bars: readonly Bar[];
  /** Text at the right margin. */
  note?: string;
}

/**
 * Meaning of a bar's length. `row`: its share of the longest bar in its row. `all`: its share of the longest bar
 * in the panel. `share`: its share of the number 1. `powers`: its power of ten between 10⁻⁶ and 1.
 */
export type BarScale = 'row' | 'all' | 'share' | 'powers';

export interface BarPanel {
  title: string;
  /** Explanation of the lengths, if they need one. */
  subtitle?: string;
  rows: readonly BarRow[];
  scale: BarScale;
  /** Text below the rows. */
  foot?: string;
}

/** A part of a page without its frame. Its upper left corner is the origin. */
export interface DrawnPanel {
  svg: string;
  height: number;
}

const padding = 14;

const headHeight = 26;

const rowGap = 8;

const footHeight = 18;

/** Draw rows of bars with labels at the left and values at the ends of the bars. */
export function drawBars(panel: BarPanel, width: number): DrawnPanel {
  const { title, subtitle = '', rows, foot, scale } = panel;
  const labels = Math.max(...rows.map(({ label }) => textWidth(label, labelSize)), 40);
  const texts = Math.max(
    ...rows.flatMap(({ bars }) => bars.map(({ text }) => textWidth(text, labelSize))),
    0,
  );
  const notes = Math.max(...rows.map(({ note = '' }) => textWidth(note, labelSize)), 0);
  const left = padding + Math.min(labels, width * 0.34) + 10;
  const room = Math.max(40, width - padding - left - texts - notes - (notes > 0 ? 22 : 10));
  const length = lengthOf(panel, room);
  const top = padding + headHeight;
  const bottom = top + rows.reduce((sum, row) => sum + rowHeight(row), 0);
  const parts = [textAt(title, padding, padding + 12, { size: nameSize, colour: colours.text, bold: true })];
  if (subtitle !== '') {
    const from = padding + textWidth(title, nameSize, true) + 10;
    parts.push(textAt(fitted(subtitle, width - padding - from, labelSize), from, padding + 12));
  }
  if (scale === 'powers') parts.push(...powerGrid(left, room, top - 4, bottom - rowGap + 4));
  let y = top;
  for (const row of rows) {
    parts.push(drawRow(row, y, left, length));
    if (row.note !== undefined) {
      const style = { anchor: 'end', bold: true, colour: colours.text } as const;
      parts.push(textAt(row.note, width - padding, y + (rowHeight(row) - rowGap) / 2 + 4, style));
    }
    y += rowHeight(row);
  }
  let end = bottom + (scale === 'powers' ? 12 : 0);
  if (foot !== undefined) {
    end += footHeight;
    parts.push(textAt(fitted(foot, width - 2 * padding, labelSize), padding, end - 6));
  }
  const height = end - rowGap + padding;
  return { svg: parts.join('\n'), height };
}

const least = 1e-6;

/** Return the function that maps a value and its row to a bar length in pixels. */
function lengthOf({ rows, scale }: BarPanel, width: number): (value: number, row: BarRow) => number {
  const longest = (some: readonly BarRow[]): number =>
    Math.max(0, ...some.flatMap(({ bars }) => bars.map(({ value }) => value)));
  if (scale === 'powers') {
    const powers = scaleLog().domain([least, 1]).range([0, width]).clamp(true);
    return (value) => (value > 0 ? powers(value) : 0);
  }
  const all = scale === 'share' ? 1 : longest(rows);
  return (value, row) =>
    scaleLinear()
      .domain([0, (scale === 'row' ? longest([row]) : all) || 1])
      .range([0, width])
      .clamp(true)(value);
}

const barHeight = 10;

const rowHeight = ({ bars }: BarRow): number => Math.max(1, bars.length) * (barHeight + 2) + rowGap;

/** Draw the grid lines and labels of the powers of ten. */
function powerGrid(left: number, width: number, top: number, bottom: number): string[] {
  const powers = scaleLog()
    .domain([least, 1])
    .range([left, left + width]);
  return [-6, -5, -4, -3, -2, -1, 0].map((power) => {
    const x = powers(10 ** power);
    const label = textAt(power === 0 ? '1' : `1e${power}`.replace('-', '\u2212'), x, bottom + 12, {
      anchor: 'middle',
    });
    return `${lineBetween([x, top], [x, bottom], colours.grid)}${label}`;
  });
}

/** Minimum drawn length of a bar in pixels. */
const shortest = 1.5;

function drawRow(
  row: BarRow,
  top: number,
  left: number,
  length: (value: number, row: BarRow) => number,
): string {
  const middle = top + (rowHeight(row) - rowGap) / 2 + 4;
  const label = textAt(fitted(row.label, left - padding - 10, labelSize), left - 10, middle, {
    anchor: 'end',
    colour: colours.text,
  });
  const bars = row.bars.map(({ value, text, colour }, index) => {
    const y = top + index * (barHeight + 2);
    const width = Math.max(value > 0 ? shortest : 0, length(value, row));
    const hover = `<title>${escapeXml(`${row.label}: ${text}`)}</title>`;
    const bar = `<rect x="${at(left)}" y="${at(y)}" width="${at(width)}" height="${barHeight}" rx="1.5" fill="${colour}">${hover}</rect>`;
    return `${bar}${textAt(text, left + width + 5, y + barHeight - 1, { colour: colours.text })}`;
  });
  return [label, ...bars].join('');
}
