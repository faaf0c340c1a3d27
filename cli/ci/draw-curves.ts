import { progressAxis, valueAxis } from '../../shared/drawing/chart-axis.ts';
import { colours, font, labelSize, nameSize, titleSize } from '../../shared/drawing/drawing-style.ts';
import { escapeXml, fitted, textWidth } from '../../shared/drawing/drawn-text.ts';
import { at, lineBetween, textAt } from '../../shared/drawing/svg-parts.ts';

export interface CurvePoint {
  x: number;
  y: number;
}

/** A metric of both trainings. */
export interface Curve {
  name: string;
  head: readonly CurvePoint[];
  base: readonly CurvePoint[];
}

const panel = { width: 460, height: 230, gap: 16, padding: 14 };
const columns = 2;
const paint = { head: '#0b6bcb', base: '#8a94a0' } as const;

/** Draw the curves of a training over those of its base, as an SVG document without scripts or external resources. */
export function drawCurves(
  curves: readonly Curve[],
  { title, names }: { title: string; names: { head: string; base: string } },
): string {
  const rows = Math.ceil(curves.length / columns);
  const width = Math.min(columns, curves.length) * (panel.width + panel.gap) + panel.gap;
  const top = 72;
  const height = top + rows * (panel.height + panel.gap);
  const panels = curves.map((curve, index) => {
    const x = panel.gap + (index % columns) * (panel.width + panel.gap);
    const y = top + Math.floor(index / columns) * (panel.height + panel.gap);
    return `<g transform="translate(${x} ${y})">${drawPanel(curve)}</g>`;
  });
  const room = width - 2 * panel.gap;
  const key = (side: 'head' | 'base', y: number) =>
    `<rect x="${panel.gap}" y="${y - 6}" width="14" height="4" rx="2" fill="${paint[side]}"/>${textAt(fitted(`${side}: ${names[side]}`, room - 20, labelSize), panel.gap + 20, y)}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}" font-family="${font}">`,
    `<rect width="100%" height="100%" fill="${colours.page}"/>`,
    textAt(fitted(title, room, titleSize, true), panel.gap, 26, {
      size: titleSize,
      colour: colours.text,
      bold: true,
    }),
    key('head', 45),
    names.base === '' ? '' : key('base', 61),
    ...panels,
    '</svg>\n',
  ].join('\n');
}

function drawPanel({ name, head, base }: Curve): string {
  const { width, height, padding } = panel;
  const all = [...head, ...base];
  const [top, bottom] = [padding + 28, height - padding - 20];
  const y = valueAxis(
    all.map((point) => point.y),
    [bottom, top],
    4,
  );
  const left = padding + Math.max(...y.ticks.map(({ label }) => textWidth(label, labelSize))) + 8;
  const right = width - padding;
  const x = progressAxis(
    all.map((point) => point.x),
    [left + 6, right - 6],
    5,
  );
  const curve = (points: readonly CurvePoint[], colour: string): string => {
    const [last] = points.slice(-1);
    if (last === undefined) return '';
    const line = points.map((point) => `${at(x.place(point.x))},${at(y.place(point.y))}`).join(' ');
    return `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="1.8" stroke-linejoin="round"/><circle cx="${at(x.place(last.x))}" cy="${at(y.place(last.y))}" r="3" fill="${colour}"/>`;
  };
  return [
    `<rect width="${width}" height="${height}" rx="8" fill="${colours.panel}" stroke="${colours.frame}"/>`,
    textAt(fitted(name, width - 2 * padding, nameSize, true), padding, padding + 12, {
      size: nameSize,
      colour: colours.text,
      bold: true,
    }),
    ...y.ticks.map(
      ({ value, label }) =>
        `${lineBetween([left, y.place(value)], [right, y.place(value)], colours.grid)}${textAt(label, left - 6, y.place(value) + 4, { anchor: 'end' })}`,
    ),
    ...x.ticks.map(({ value, label }) => textAt(label, x.place(value), bottom + 17, { anchor: 'middle' })),
    curve(base, paint.base),
    curve(head, paint.head),
  ].join('');
}
