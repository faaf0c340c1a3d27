import { line } from 'd3-shape';
import { type Axis, progressAxis, valueAxis } from '../chart-axis.ts';
import { colours, labelSize, nameSize } from '../drawing-style.ts';
import { escapeXml, fitted, textWidth } from '../drawn-text.ts';
import { valueText } from '../number-text.ts';
import { at, dot, lineBetween, namedText, textAt } from '../svg-parts.ts';
import type { DrawnPoint } from './metric-series.ts';
import { type PanelLine, type PanelLines, pointText } from './panel-lines.ts';
import { spreadLabels } from './spread-labels.ts';

export interface PanelSize {
  width: number;
  /** Height of the plot without its legend. */
  plotHeight: number;
  /** Legend rows to reserve, so all plots of a row align. */
  legendRows: number;
}

const padding = 14;

const headHeight = 24;

const legendRow = 17;

/** Smallest distance between the base lines of two labels. */
const labelGap = 12;

/** Render a panel with its upper left corner at the origin. */
export function renderPanel(name: string, { lines, progress }: PanelLines, size: PanelSize): string {
  const top = padding + headHeight + size.legendRows * legendRow + 8;
  const bottom = top + size.plotHeight - 8;
  const values = lines.flatMap(({ points }) => points.map(({ y }) => y));
  const y = valueAxis(values, [bottom, top], Math.round(size.plotHeight / 45));
  const widest = Math.max(...y.ticks.map(({ label }) => textWidth(label, labelSize)));
  const lastTexts = lines.map(({ lastValue }) => valueText(lastValue));
  const left = padding + widest + 8;
  const right =
    size.width - padding - 8 - Math.max(...lastTexts.map((text) => textWidth(text, labelSize, true)));
  const places = lines.flatMap(({ points }) => points.map((point) => point.x));
  const x = progressAxis(places, [left + 6, right - 6], Math.round((right - left) / 80));
  const lastYs = spreadLabels(
    lines.map(({ points }) => y.place(points.at(-1)?.y ?? 0)),
    labelGap,
    top,
    bottom,
  );
  return [
    `<rect width="${at(size.width)}" height="${at(panelHeight(size))}" rx="8" fill="${colours.panel}" stroke="${colours.frame}"/>`,
    heading(name, y, size.width),
    ...lines.map((one, index) =>
      legend(
        one,
        padding + headHeight + 10 + index * legendRow,
        size.width,
        lines.length === 1 && one.name === name,
      ),
    ),
    axes(x, y, progress, { left, right, bottom }),
    ...lines.map((one) => curve(one, x, y, progress)),
    ...lastTexts.map((text, index) =>
      textAt(text, right + 5, (lastYs[index] ?? 0) + 4, {
        colour: lines[index]?.colour ?? colours.text,
        bold: true,
      }),
    ),
  ].join('\n');
}

const footHeight = 28;

export const panelHeight = ({ plotHeight, legendRows }: PanelSize): number =>
  2 * padding + headHeight + legendRows * legendRow + plotHeight + footHeight;

function heading(name: string, { isLogarithmic }: Axis, width: number): string {
  const note = isLogarithmic ? 'logarithmic' : '';
  const room = width - 2 * padding - textWidth(note, labelSize) - 12;
  const style = { size: nameSize, colour: colours.text, bold: true };
  const title = textAt(fitted(name, room, nameSize, true), padding, padding + 12, style);
  return isLogarithmic ? `${title}${textAt(note, width - padding, padding + 12, { anchor: 'end' })}` : title;
}

/**
 * Render the legend entry of a line: colour, name and summary. Leave out the name if the panel has only this line.
 */
function legend({ name, colour, summary }: PanelLine, y: number, width: number, isAlone: boolean): string {
  const swatch = `<rect x="${padding}" y="${at(y - 6)}" width="14" height="4" rx="2" fill="${colour}"/>`;
  const room = width - 2 * padding - 36 - textWidth(summary, labelSize);
  const shown = isAlone ? '' : fitted(name, Math.max(60, room), labelSize, true);
  return `${swatch}${namedText(shown, summary, padding + 20, y)}`;
}

function axes(
  x: Axis,
  y: Axis,
  progress: string,
  { left, right, bottom }: { left: number; right: number; bottom: number },
): string {
  const across = y.ticks.map(({ value, label }) => {
    const height = y.place(value);
    return `${lineBetween([left, height], [right, height], colours.grid)}${textAt(label, left - 6, height + 4, { anchor: 'end' })}`;
  });
  const along = x.ticks.map(({ value, label }) => {
    const place = x.place(value);
    return `${lineBetween([place, bottom], [place, bottom + 4], colours.axis)}${textAt(label, place, bottom + 17, { anchor: 'middle' })}`;
  });
  const what = progress === 'step' ? 'step' : `${progress} since the start`;
  return [
    ...across,
    lineBetween([left, bottom], [right, bottom], colours.axis),
    ...along,
    textAt(what, (left + right) / 2, bottom + 33, { anchor: 'middle' }),
  ].join('');
}

/** Number of points from which lines are thin, because thick lines would fill the plot. */
const denseFrom = 300;

/** Most points of a line with visible dots. */
const maxDotted = 40;

function curve({ name, colour, points, best }: PanelLine, x: Axis, y: Axis, progress: string): string {
  const draw = line<DrawnPoint>(
    (point) => x.place(point.x),
    (point) => y.place(point.y),
  ).digits(1);
  const path = points.length < 2 ? '' : (draw(points) ?? '');
  const mark = (point: DrawnPoint, radius: number, isRing = false) =>
    dot(x.place(point.x), y.place(point.y), radius, colour, pointText(name, point, progress), isRing);
  const last = points.at(-1);
  return [
    `<g><title>${escapeXml(name)}</title>`,
    path === ''
      ? ''
      : `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${points.length > denseFrom ? 1.1 : 1.8}" stroke-linejoin="round"/>`,
    ...(points.length <= maxDotted ? points.map((point) => mark(point, 2.2)) : []),
    last === undefined ? '' : mark(last, 3.2),
    best === undefined ? '' : mark(best, 4.2, true),
    '</g>',
  ].join('');
}
