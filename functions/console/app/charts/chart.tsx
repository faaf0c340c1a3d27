import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { Button } from '../ui/parts.tsx';
import { numberText, plural } from '../ui/text/format.ts';
import { axesOf, isHuge, isolated, rightPadding } from './axes.ts';
import { cssColour, lineColour, lineDash, schemeChanges } from './colours.ts';
import type { Curve } from './curve.ts';
import { exportPng, exportSvg } from './export.ts';
import { useFiner } from './finer.ts';
import { aligned, type Line, lineOf, nearest, smoothed, thinned, type XAxis } from './series.ts';

/** Curve of one experiment in a chart. */
export interface ChartCurve {
  id: string;
  label: string;
  /** Index of the curve's colour, the same in all charts of a page. */
  colour: number;
  curve: Curve;
}

export interface ChartSettings {
  axis: XAxis;
  logX: boolean;
  logY: boolean;
  /** Weight of past values, 0 to 0.99. */
  smoothing: number;
}

interface Shown extends ChartCurve {
  raw: Line;
  smooth: Line;
}

const axisNames: Readonly<Record<XAxis, string>> = {
  step: 'step',
  time: 'time',
  relative: 'seconds since the first point',
};
const maxTips = 12;
const chartHeight = 250;

function xText(x: number, axis: XAxis): string {
  if (axis === 'time') return new Date(x * 1000).toLocaleString();
  return axis === 'relative' ? `${numberText(x)} s` : `step ${numberText(x)}`;
}

/**
 * Combine the lines over a common x axis, thinned to the width. A logarithmic axis leaves out values of 0 and
 * below.
 */
function plotData(
  shown: readonly Shown[],
  width: number,
  range: [number, number] | undefined,
  settings: ChartSettings,
) {
  const both = settings.smoothing > 0;
  const lines = shown.flatMap(({ raw, smooth }) => (both ? [raw, smooth] : [raw]));
  const { xs, ys } = aligned(lines.map((line) => thinned(line, width, range)));
  const keptY = settings.logY
    ? ys.map((values) => values.map((value) => (value != null && value <= 0 ? null : value)))
    : ys;
  if (!settings.logX) return [xs, ...keptY] as uPlot.AlignedData;
  const first = xs.findIndex((x) => x > 0);
  return [xs, ...keptY].map((values) => values.slice(Math.max(0, first))) as uPlot.AlignedData;
}

interface Tip {
  left: number;
  x: number;
  rows: { id: string; label: string; colour: number; y: number }[];
}

/** Curves of one metric, with crosshair, zoom by dragging, and export. */
export function Chart({
  name,
  curves: given,
  settings,
  readRange,
}: {
  name: string;
  curves: readonly ChartCurve[];
  settings: ChartSettings;
  /** Read the thinned curves again between two steps, by experiment ID. */
  readRange(name: string, from: number, to: number, signal: AbortSignal): Promise<ReadonlyMap<string, Curve>>;
}) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const isTouched = useRef(false);
  const [range, setRange] = useState<[number, number]>();
  const [tip, setTip] = useState<Tip>();
  const [width, setWidth] = useState(0);
  const scheme = schemeChanges.value;
  const { axis, logX, logY, smoothing } = settings;
  const finer = useFiner(given, axis === 'step' ? range : undefined, (from, to, signal) =>
    readRange(name, from, to, signal),
  );
  const curves = useMemo(
    () => given.map((one) => ({ ...one, curve: finer?.get(one.id) ?? one.curve })),
    [given, finer],
  );
  const isThinned = given.some(({ curve }) => curve.reported !== undefined);

  const shown = useMemo<Shown[]>(
    () =>
      curves.map((one) => {
        const raw = lineOf(one.curve, axis);
        return { ...one, raw, smooth: { xs: raw.xs, ys: smoothed(raw.ys, smoothing) } };
      }),
    [curves, axis, smoothing],
  );
  const latest = useRef({ shown, settings, range });
  latest.current = { shown, settings, range };
  const hasHuge = shown.some(({ raw }) => isHuge(raw.ys));
  const structure = `${hasHuge}|${shown.map(({ id, colour }) => `${id}:${colour}`).join()}|${logX}|${logY}|${smoothing > 0}|${axis}|${scheme}`;

  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => setRange(undefined), [axis, logX]);

  const isReady = width > 40;
  useEffect(() => {
    const element = holder.current;
    if (element === null || !isReady) return;
    const both = latest.current.settings.smoothing > 0;
    const series: uPlot.Series[] = latest.current.shown.flatMap(({ label, colour }) => {
      const stroke = cssColour(lineColour(colour));
      const dash = lineDash(colour);
      const points = {
        size: 7,
        fill: stroke,
        show: true,
        filter: (u: uPlot, at: number) => isolated(u.data[at] ?? []),
      };
      const main: uPlot.Series = { label, stroke, width: 2, points, spanGaps: false, ...(dash && { dash }) };
      return both ? [{ ...main, stroke: `${stroke}50`, width: 1, points: { show: false } }, main] : [main];
    });
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: chartHeight,
        padding: [10, rightPadding(axis), 0, 0],
        legend: { show: false },
        scales: { x: { time: axis === 'time', distr: logX ? 3 : 1 }, y: { distr: logY ? 3 : 1 } },
        series: [{}, ...series],
        axes: axesOf({ axis, logX, logY, hasHuge, text: cssColour('soft'), line: cssColour('line') }),
        cursor: {
          y: false,
          points: { show: true, size: 7 },
          drag: { x: true, y: false, setScale: false },
          bind: {
            // After a tap, browsers send an emulated `mouseleave` at once. Ignore it.
            mouseleave: (_u, _target, handler) => (event) => (isTouched.current ? null : handler(event)),
          },
        },
        hooks: {
          setSelect: [
            (u) => {
              if (u.select.width < 6) return;
              const from = u.posToVal(u.select.left, 'x');
              const to = u.posToVal(u.select.left + u.select.width, 'x');
              u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              setRange([from, to]);
            },
          ],
          setCursor: [
            (u) => {
              const { left = -1 } = u.cursor;
              if (left < 0) return setTip(undefined);
              const x = u.posToVal(left, 'x');
              const near = latest.current.shown.flatMap(({ id, label, colour, smooth }) => {
                const found = nearest(smooth, x);
                return found === undefined ? [] : [{ id, label, colour, y: found.y, x: found.x }];
              });
              const closest = near.reduce(
                (best, one) => (Math.abs(one.x - x) < Math.abs(best - x) ? one.x : best),
                near[0]?.x ?? x,
              );
              setTip({
                left: left + u.bbox.left / devicePixelRatio,
                x: closest,
                rows: near.sort((a, b) => b.y - a.y),
              });
            },
          ],
        },
      },
      plotData(latest.current.shown, element.clientWidth, latest.current.range, latest.current.settings),
      element,
    );
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = undefined;
      setTip(undefined);
    };
  }, [structure, isReady, axis, logX, logY]);

  useEffect(() => {
    const made = plot.current;
    if (made === undefined || !isReady) return;
    if (made.width !== width) made.setSize({ width, height: chartHeight });
    made.setData(plotData(shown, width, range, settings), range === undefined);
    if (range !== undefined) {
      made.setScale('x', { min: range[0], max: range[1] });
    }
  }, [shown, width, range, settings, isReady]);

  /** Move the crosshair and zoom with the keyboard: arrows, plus, minus, and 0 to reset. */
  const onKeyDown = (event: KeyboardEvent) => {
    const made = plot.current;
    if (made === undefined) return;
    const { left = 0 } = made.cursor;
    const step = event.shiftKey ? 40 : 8;
    const { min = 0, max = 1 } = made.scales['x'] ?? {};
    const [low, high] = [min ?? 0, max ?? 1];
    const at = left < 0 ? (low + high) / 2 : made.posToVal(left, 'x');
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => made.setCursor({ left: Math.max(0, left - step), top: 10 }),
      ArrowRight: () =>
        made.setCursor({ left: Math.min(made.over.clientWidth, Math.max(0, left) + step), top: 10 }),
      '+': () => setRange([at - (at - low) / 2, at + (high - at) / 2]),
      '-': () => setRange([at - (at - low) * 2, at + (high - at) * 2]),
      '0': () => setRange(undefined),
      Escape: () => made.setCursor({ left: -10, top: -10 }),
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  /** Move the crosshair to the finger, which cannot hover. */
  const onTouch = (event: PointerEvent) => {
    const made = plot.current;
    isTouched.current = event.pointerType !== 'mouse';
    if (made === undefined || !isTouched.current) return;
    const box = made.over.getBoundingClientRect();
    made.setCursor({ left: event.clientX - box.left, top: event.clientY - box.top });
  };

  const ends = shown.flatMap(({ label, raw }) => {
    const last = raw.ys.at(-1);
    return last === undefined ? [] : [`${label} ends at ${numberText(last)}`];
  });
  const odd = shown.reduce((sum, { raw }) => sum + raw.ys.filter((y) => !Number.isFinite(y)).length, 0);
  const toDraw = () => ({
    title: name,
    axisName: axisNames[axis],
    lines: shown.map(({ label, colour, raw, smooth }) => ({ label, colour, raw, smooth })),
    plot: plot.current,
    isSmoothed: smoothing > 0,
  });
  return (
    <figure class="chart">
      <figcaption>
        <strong class="ellipsis" title={name}>
          <bdi>{name}</bdi>
        </strong>
        <span class="chart-tools">
          {range !== undefined && (
            <Button kind="quiet" onClick={() => setRange(undefined)}>
              Whole
            </Button>
          )}
          <details class="menu">
            <summary aria-label={`Save the chart of ${name}`} title="Save">
              <svg class="icon" width="16" height="16" viewBox="0 0 20 20" aria-hidden="true">
                <path d="M10 3v10m-4-4l4 4 4-4M3.500 16.500h13" />
              </svg>
            </summary>
            <div>
              <button type="button" onClick={() => exportPng(toDraw())}>
                PNG
              </button>
              <button type="button" onClick={() => exportSvg(toDraw())}>
                SVG
              </button>
            </div>
          </details>
        </span>
      </figcaption>
      <div
        class="plot"
        ref={holder}
        role="img"
        tabIndex={0}
        aria-label={`${name} by ${axisNames[axis]}: ${ends.slice(0, 10).join('; ')}. Arrow keys move the crosshair, plus and minus zoom.`}
        onKeyDown={onKeyDown}
        onPointerDown={onTouch}
        onPointerMove={onTouch}
        onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
        onDblClick={() => setRange(undefined)}
      >
        {tip !== undefined && tip.rows.length > 0 && (
          <div class={`tip${tip.left > width / 2 ? ' before' : ''}`} style={{ left: `${tip.left}px` }}>
            <p class="soft">{xText(tip.x, axis)}</p>
            {tip.rows.slice(0, maxTips).map(({ id, label, colour, y }) => (
              <p key={id}>
                <i style={{ background: `var(--${lineColour(colour)})` }} />
                {shown.length > 1 && <bdi class="ellipsis">{label}</bdi>}
                <b>{numberText(y)}</b>
              </p>
            ))}
            {tip.rows.length > maxTips && <p class="soft">and {tip.rows.length - maxTips} more</p>}
          </div>
        )}
      </div>
      {odd > 0 && (
        <p class="soft small">
          {isThinned ? 'Some values are' : plural(odd, 'value is', 'values are')} NaN or infinite: gaps in the
          line.
        </p>
      )}
    </figure>
  );
}
