import { colours, font, labelSize, titleSize } from '../drawing-style.ts';
import { escapeXml, fitted, textWidth } from '../drawn-text.ts';
import { at, textAt } from '../svg-parts.ts';
import type { MetricPanel, MetricPanels } from './metric-panels.ts';
import { type Goal, type PanelLines, panelLines } from './panel-lines.ts';
import { type PanelSize, panelHeight, renderPanel } from './render-panel.ts';

export interface ChartOptions {
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
