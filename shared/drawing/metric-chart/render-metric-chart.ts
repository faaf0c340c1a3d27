import { line } from 'd3-shape';
import { type Axis, progressAxis, valueAxis } from '../chart-axis.ts';
import { colours, font, labelSize, nameSize, titleSize } from '../drawing-style.ts';
import { escapeXml, fitted, textWidth } from '../drawn-text.ts';
import { valueText } from '../number-text.ts';
import { at, dot, lineBetween, namedText, textAt } from '../svg-parts.ts';
import type { MetricPanel, MetricPanels } from './metric-panels.ts';
import type { DrawnPoint } from './metric-series.ts';
import { type Goal, type PanelLine, type PanelLines, panelLines, pointText } from './panel-lines.ts';

interface ChartOptions {
  title: string;
  /** Further lines below the title. */
  notes?: readonly string[];
  /** Return the goal of a metric; undefined if unknown. The name has no prefix. */
  goalOf(name: string): Goal | undefined;
  /** Origin of the time axis in epoch milliseconds, unless a point is earlier. */
  start?: number | undefined;
}

interface Drawn {
  panel: MetricPanel;
  lines: PanelLines;
}

const headHeight = 24;

const noteHeight = 17;

const margin = 20;

/**
 * Render a job's metrics as a standalone SVG 1.1 document: one panel for each of the first twelve metrics, by step
 * or time, with the last and the best value of each line. It has no script, style sheet or external resource.
 */
export function renderMetricChart(
  metrics: MetricPanels,
  { title, notes = [], goalOf, start }: ChartOptions,
): string {
  const firsts = metrics.panels.flatMap(({ series }) => [...series.values()].map(({ times }) => times[0]));
  // Start at the earliest point, because a later attempt starts after the points of an earlier one.
  const from = Math.min(...firsts, ...(start === undefined ? [] : [start]));
  const drawn = metrics.panels.map(
    (panel): Drawn => ({ panel, lines: panelLines(panel, goalOf(panel.name), from) }),
  );
  const { width, height, parts } = drawn.length === 0 ? emptyPart() : layout(drawn);
  const lines = [...notes, ...missing(metrics)];
  const headHeight = 30 + lines.length * noteHeight;
  const full = [width + 2 * margin, headHeight + height + 2 * margin] as const;
  const shownTitle = fitted(title, width, titleSize, true);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${at(full[0])}" height="${at(full[1])}" viewBox="0 0 ${at(full[0])} ${at(full[1])}" role="img" aria-label="${escapeXml(shownTitle)}" font-family="${font}">`,
    `<title>${escapeXml(shownTitle)}</title>`,
    `<desc>${escapeXml(description(drawn))}</desc>`,
    `<rect width="100%" height="100%" fill="${colours.page}"/>`,
    textAt(shownTitle, margin, margin + 14, { size: titleSize, colour: colours.text, bold: true }),
    ...lines.map((text, index) =>
      textAt(fitted(text, width, labelSize), margin, margin + 34 + index * noteHeight),
    ),
    `<g transform="translate(${margin} ${at(margin + headHeight)})">`,
    ...parts,
    '</g>',
    '</svg>\n',
  ].join('\n');
}

const emptySize = { width: 720, height: 120 };

function emptyPart(): { width: number; height: number; parts: string[] } {
  const { width, height } = emptySize;
  const text = 'No metrics have been reported.';
  const frame = `<rect width="${width}" height="${height}" rx="8" fill="${colours.panel}" stroke="${colours.frame}"/>`;
  return {
    width,
    height,
    parts: [frame, textAt(text, (width - textWidth(text, labelSize)) / 2, height / 2 + 4)],
  };
}

/** Layouts by number of panels: columns, panel width and plot height. */
const grids = [
  { upTo: 1, columns: 1, width: 720, plotHeight: 300 },
  { upTo: 4, columns: 2, width: 470, plotHeight: 200 },
  { upTo: Number.POSITIVE_INFINITY, columns: 3, width: 420, plotHeight: 170 },
] as const;

interface PanelSize {
  width: number;
  /** Height of the plot without its legend. */
  plotHeight: number;
  /** Legend rows to reserve, so all plots of a row align. */
  legendRows: number;
}

const gap = 16;

function layout(drawn: readonly Drawn[]): { width: number; height: number; parts: string[] } {
  const grid = grids.find(({ upTo }) => drawn.length <= upTo) ?? grids[2];
  const parts: string[] = [];
  let top = 0;
  for (let first = 0; first < drawn.length; first += grid.columns) {
    const row = drawn.slice(first, first + grid.columns);
    const legendRows = Math.max(...row.map(({ lines }) => lines.lines.length));
    const size: PanelSize = { width: grid.width, plotHeight: grid.plotHeight, legendRows };
    for (const [column, { panel, lines }] of row.entries()) {
      const place = `translate(${at(column * (grid.width + gap))} ${at(top)})`;
      parts.push(`<g transform="${place}">`, renderPanel(panel.name, lines, size), '</g>');
    }
    top += panelHeight(size) + gap;
  }
  return { width: grid.columns * (grid.width + gap) - gap, height: top - gap, parts };
}

const padding = 14;

const legendRow = 17;

/** Smallest distance between the base lines of two labels. */
const labelGap = 12;

/** Render a panel with its upper left corner at the origin. */
function renderPanel(name: string, { lines, progress }: PanelLines, size: PanelSize): string {
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

/**
 * Move labels from their `wanted` heights as little as possible, so they keep `gap` between them and stay within
 * `top` and `bottom`. Return the heights in the given order.
 */
export function spreadLabels(wanted: readonly number[], gap: number, top: number, bottom: number): number[] {
  const placed = wanted.map((y, index) => ({ y, index })).toSorted((a, b) => a.y - b.y);
  let least = top;
  for (const label of placed) {
    label.y = Math.max(label.y, least);
    least = label.y + gap;
  }
  let most = bottom;
  for (const label of placed.toReversed()) {
    label.y = Math.min(label.y, most);
    most = label.y - gap;
  }
  return placed.toSorted((a, b) => a.index - b.index).map(({ y }) => y);
}

const footHeight = 28;

const panelHeight = ({ plotHeight, legendRows }: PanelSize): number =>
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

function missing({ others, panels }: MetricPanels): string[] {
  if (others === 0) return [];
  const count =
    others >= 1000 ? '1,000 or more others are' : others === 1 ? '1 other is' : `${others} others are`;
  return [`The first ${panels.length} metrics are drawn; ${count} not.`];
}

function description(drawn: readonly Drawn[]): string {
  const lines = drawn.flatMap(({ lines }) =>
    lines.lines.map(({ name, summary }) => `${fitted(name, 400, labelSize)}: ${summary}.`),
  );
  return lines.length === 0 ? 'No metrics have been reported.' : lines.join(' ');
}
