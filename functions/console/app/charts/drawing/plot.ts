import uPlot from 'uplot';
import { cssColour, lineColour, lineDash } from '../../theme/colours.ts';
import type { Curve } from '../reading/curve.ts';
import { aligned, isDrawable, type Line, nearest, thinned } from '../series.ts';
import { type ChartView, highlighted } from '../view.ts';
import { axesOf, isolated, rightPadding } from './axes.ts';

/** Curve of one run in a chart. */
export interface ChartCurve {
  id: string;
  label: string;
  /** Line style of the run, the same in all charts. */
  style: number;
  curve: Curve;
  /** Curve of the metric on the horizontal axis. */
  by?: Curve | undefined;
  /** Curves at the edges of the band around a mean. */
  band?: { low: Curve; high: Curve } | undefined;
}

export interface Shown extends ChartCurve {
  raw: Line;
  smooth: Line;
  /** Edges of the band around a mean. */
  edges?: readonly [low: Line, high: Line] | undefined;
}

/** Value of a run at the crosshair. */
export interface Near {
  id: string;
  label: string;
  style: number;
  x: number;
  y: number;
}

/**
 * Combine the lines over a common x axis, thinned to the width. A logarithmic axis leaves out values of 0 and
 * below.
 */
export function plotData(
  shown: readonly Shown[],
  width: number,
  { zoom, logX, logY, smoothing }: ChartView,
): uPlot.AlignedData {
  const lines = shown.flatMap(({ raw, smooth, edges }) => [
    ...(edges ?? []),
    ...(smoothing > 0 && edges === undefined ? [raw] : []),
    smooth,
  ]);
  const { xs, ys } = aligned(lines.map((line) => thinned(line, width, zoom)));
  const keptY = logY
    ? ys.map((values) => values.map((value) => (value != null && value <= 0 ? null : value)))
    : ys;
  if (!logX) return [xs, ...keptY] as uPlot.AlignedData;
  const first = xs.findIndex((x) => x > 0);
  return [xs, ...keptY].map((values) => values.slice(Math.max(0, first))) as uPlot.AlignedData;
}

/** Return every run's value nearest to an x, the greatest first. */
export const nearTo = (shown: readonly Shown[], x: number): Near[] =>
  shown
    .flatMap(({ id, label, style, smooth }) => {
      const found = nearest(smooth, x);
      return found === undefined ? [] : [{ id, label, style, ...found }];
    })
    .sort((a, b) => b.y - a.y);

/** Return the x of a run's point that is nearest to an x. */
export const closestX = (near: readonly Near[], x: number): number =>
  near.reduce((best, one) => (Math.abs(one.x - x) < Math.abs(best - x) ? one.x : best), near[0]?.x ?? x);

/** Opacity of the lines that are not highlighted. */
const fadedAlpha = 0.18;
/** From so many lines on they are thin and pale, so that they are no band. */
const manyLines = 11;
const lineWidth = 2;
const thinWidth = 1;
/** Opacity of one of many lines, as two hexadecimal digits. */
const paleAlpha = '8c';

/** Highlight the lines of a run, or none. */
export function highlightIn(plot: uPlot, shown: readonly Shown[], id: string | undefined): void {
  const index = shown.findIndex((one) => one.id === id);
  const perRun = (plot.series.length - 1) / Math.max(1, shown.length);
  const series = index < 0 ? null : (index + 1) * perRun;
  if (shown.length >= manyLines)
    for (const at of shown.keys()) {
      const line = plot.series[(at + 1) * perRun];
      if (line !== undefined) line.width = at === index ? lineWidth : thinWidth;
    }
  // The type of uPlot lacks the null that ends a highlight.
  plot.setSeries(series as number, { focus: true }, false);
}

/** Draw the fixed crosshair. */
function drawFixed(plot: uPlot, at: number | undefined): void {
  if (at === undefined) return;
  const x = plot.valToPos(at, 'x', true);
  const { left, top, width, height } = plot.bbox;
  if (!Number.isFinite(x) || x < left || x > left + width) return;
  const { ctx } = plot;
  ctx.save();
  ctx.strokeStyle = cssColour('accent');
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, top + height);
  ctx.stroke();
  ctx.restore();
}

/** Half the size of a mark in pixels. */
const markSize = 4;
/** Room for a mark, and for half a number, at an edge without an axis. */
const besideMark = 14;

/** Mark the values that no line shows at the edges: NaN with a cross at the foot, infinities with a triangle. */
function drawOdd(plot: uPlot, shown: readonly Shown[]): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const size = markSize * devicePixelRatio;
  ctx.save();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const { raw, style } of shown) {
    ctx.strokeStyle = cssColour(lineColour(style));
    ctx.beginPath();
    for (const [index, y] of raw.ys.entries()) {
      if (isDrawable(y)) continue;
      const x = plot.valToPos(raw.xs[index] ?? Number.NaN, 'x', true);
      if (!(x >= left && x <= left + width)) continue;
      const foot = y > 0 ? top + size : top + height - size;
      const tip = y > 0 ? -size : size;
      if (Number.isNaN(y)) {
        ctx.moveTo(x - size, foot - size);
        ctx.lineTo(x + size, foot + size);
        ctx.moveTo(x + size, foot - size);
        ctx.lineTo(x - size, foot + size);
      } else {
        ctx.moveTo(x - size, foot - tip);
        ctx.lineTo(x, foot + tip);
        ctx.lineTo(x + size, foot - tip);
        ctx.closePath();
      }
    }
    ctx.stroke();
  }
  ctx.restore();
}

/** Return the selected part of a scale; undefined for all of it. */
function selectedOf(plot: uPlot, scale: 'x' | 'y'): [number, number] | undefined {
  const { left, top, width, height } = plot.select;
  const [start, size, whole] =
    scale === 'x' ? [left, width, plot.over.clientWidth] : [top, height, plot.over.clientHeight];
  if (size >= whole - 1) return undefined;
  const [one, other] = [plot.posToVal(start, scale), plot.posToVal(start + size, scale)];
  return one < other ? [one, other] : [other, one];
}

/** Move the crosshair out of a plot. */
export const hideCursor = (plot: uPlot): void => plot.setCursor({ left: -10, top: -10 });

/** What a plot reads at each drawing, and what it calls. */
export interface PlotHooks {
  latest(): {
    shown: readonly Shown[];
    view: ChartView;
    yRange: readonly [number, number] | undefined;
  };
  isTouched(): boolean;
  /** Called with the part that was dragged over; undefined for the whole of an axis. */
  onSelect(x: [number, number] | undefined, y: [number, number] | undefined): void;
  onCursor(plot: uPlot): void;
  onDraw(plot: uPlot): void;
}

/** Points of one moment have a minute around them. uPlot would show years. */
function timeRange({ data: [xs] }: uPlot, min: number, max: number): [number, number] {
  const [start, end] = [xs[0], xs[xs.length - 1]];
  return start !== undefined && start === end ? [start - 30, start + 30] : [min, max];
}

/** Make the plot of a chart in an element. */
export function makePlot(element: HTMLElement, height: number, hasHuge: boolean, hooks: PlotHooks): uPlot {
  const { shown, view, yRange } = hooks.latest();
  const { axis, logX, logY, smoothing } = view;
  const bands: uPlot.Band[] = [];
  const series: uPlot.Series[] = [];
  const isMany = shown.length >= manyLines;
  for (const { id, label, style, edges } of shown) {
    const colour = cssColour(lineColour(style));
    // uPlot asks for the colour at each drawing.
    const stroke = isMany ? () => (highlighted.peek() === id ? colour : `${colour}${paleAlpha}`) : colour;
    const dash = lineDash(style);
    const points = {
      size: 7,
      fill: colour,
      show: true,
      filter: (u: uPlot, at: number) => isolated(u.data[at] ?? []),
    };
    const width = isMany ? thinWidth : lineWidth;
    const main: uPlot.Series = { label, stroke, width, points, spanGaps: false, ...(dash && { dash }) };
    if (edges !== undefined) {
      const edge: uPlot.Series = { label, stroke: 'transparent', width: 0, points: { show: false } };
      series.push(edge, edge);
      bands.push({ series: [series.length, series.length - 1], fill: `${colour}1c` });
    } else if (smoothing > 0)
      series.push({ ...main, stroke: `${colour}${isMany ? '28' : '50'}`, width: 1, points: { show: false } });
    series.push(main);
  }
  const hasRange = yRange !== undefined;
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      // Without a value there is no axis left of the first mark.
      padding: [10, rightPadding(axis), 0, (_u, _side, [, , , hasAxis]) => (hasAxis ? 0 : besideMark)],
      legend: { show: false },
      focus: { alpha: fadedAlpha },
      scales: {
        x: { time: axis === 'time', distr: logX ? 3 : 1, ...(axis === 'time' && { range: timeRange }) },
        y: {
          distr: logY ? 3 : 1,
          ...(hasRange && { range: () => [...(hooks.latest().yRange ?? yRange)] as [number, number] }),
        },
      },
      series: [{}, ...series],
      bands,
      axes: axesOf({ axis, logX, logY, hasHuge, text: cssColour('soft'), line: cssColour('line') }),
      cursor: {
        y: false,
        points: { show: true, size: 7 },
        // A drag along one axis selects a part of this axis, a drag across both a box.
        drag: { x: true, y: true, uni: 30, setScale: false },
        bind: {
          // Shift with a drag moves the shown part.
          mousedown: (_u, _target, handler) => (event) => (event.shiftKey ? null : handler(event)),
          // After a tap, browsers send an emulated `mouseleave` at once. Ignore it.
          mouseleave: (_u, _target, handler) => (event) => (hooks.isTouched() ? null : handler(event)),
        },
      },
      hooks: {
        draw: [
          (u) => drawFixed(u, hooks.latest().view.at),
          (u) => drawOdd(u, hooks.latest().shown),
          hooks.onDraw,
        ],
        setSelect: [
          (u) => {
            if (u.select.width < 6 || u.select.height < 6) return;
            const [x, y] = [selectedOf(u, 'x'), selectedOf(u, 'y')];
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            hooks.onSelect(x, y);
          },
        ],
        setCursor: [hooks.onCursor],
      },
    },
    plotData(shown, element.clientWidth, view),
    element,
  );
}
