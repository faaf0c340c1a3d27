import { useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { schemeChanges } from '../theme/colours.ts';
import { numberText, plural } from '../ui/text/format.ts';
import { isHuge } from './axes.ts';
import type { Drawn } from './export.ts';
import {
  type ChartCurve,
  closestX,
  highlightIn,
  makePlot,
  type Near,
  nearTo,
  plotData,
  type Shown,
} from './plot.ts';
import type { Curve } from './reading/curve.ts';
import { useFiner } from './reading/finer.ts';
import { type Line, lineOf, metricOfAxis, smoothed, usualRange, type XAxis } from './series.ts';
import { Tooltip } from './tooltip.tsx';
import { useWidth } from './values/use-canvas.ts';
import { type ChartView, crosshair, enlarge, highlighted, setAt, setZoom, yRangeOf } from './view.ts';

export const axisName = (axis: XAxis): string =>
  metricOfAxis(axis) ??
  { step: 'step', time: 'time', relative: 'seconds since the first point' }[axis as 'step'];

const xText = (x: number, axis: XAxis): string =>
  axis === 'time'
    ? new Date(x * 1000).toLocaleString()
    : axis === 'relative'
      ? `${numberText(x)} s`
      : `${metricOfAxis(axis) ?? 'step'} ${numberText(x)}`;

/** Distance in pixels within which the pointer highlights a line. */
const reach = 24;
/** A pointer that moves further between press and release drags instead of clicking. */
const clickPixels = 4;

/** Curves of one metric. All charts of a page share crosshair, zoom and highlight. */
export function Chart({
  name,
  curves: given,
  view,
  height,
  readRange,
  tools,
}: {
  name: string;
  curves: readonly ChartCurve[];
  view: ChartView;
  height: number;
  /** Read the thinned curves again between two steps, by experiment ID. */
  readRange(name: string, from: number, to: number, signal: AbortSignal): Promise<ReadonlyMap<string, Curve>>;
  tools: (drawn: () => Drawn) => ComponentChildren;
}) {
  const [holder, width] = useWidth<HTMLDivElement>();
  const plot = useRef<uPlot>(undefined);
  const isTouched = useRef(false);
  const isFollowing = useRef(false);
  /** Whether this chart has highlighted a line. */
  const isHovered = useRef(false);
  const pressedAt = useRef(0);
  const [tip, setTip] = useState<{ left: number; x: number }>();
  /** Pixels from the left to the fixed crosshair, known once the plot has drawn. */
  const [fixedLeft, setFixedLeft] = useState<number>();
  const scheme = schemeChanges.value;
  const { axis, logX, logY, smoothing, zoom, at, isWithoutOutliers } = view;
  const finer = useFiner(given, axis === 'step' ? zoom : undefined, (from, to, signal) =>
    readRange(name, from, to, signal),
  );
  const curves = useMemo(
    () => given.map((one) => ({ ...one, curve: finer?.get(one.id) ?? one.curve })),
    [given, finer],
  );
  const isThinned = given.some(({ curve }) => curve.reported !== undefined);

  const shown = useMemo<Shown[]>(
    () =>
      curves.map((curve) => {
        const raw = lineOf(curve.curve, axis, curve.by);
        const smoothLine = ({ xs, ys }: Line): Line => ({ xs, ys: smoothed(ys, smoothing) });
        const edgeOf = (edge: Curve) => smoothLine(lineOf(edge, axis, curve.by));
        const edges = curve.band && ([edgeOf(curve.band.low), edgeOf(curve.band.high)] as const);
        return { ...curve, raw, smooth: smoothLine(raw), edges };
      }),
    [curves, axis, smoothing],
  );
  const wantedY = yRangeOf(name);
  const yRange = useMemo(
    () => wantedY ?? (isWithoutOutliers ? usualRange(shown.map(({ smooth }) => smooth)) : undefined),
    [shown, isWithoutOutliers, wantedY?.[0], wantedY?.[1]],
  );
  const isRanged = yRange !== undefined && !(logY && yRange[0] <= 0);
  const latest = useRef({ shown, view, yRange });
  latest.current = { shown, view, yRange: isRanged ? yRange : undefined };
  const hasHuge = shown.some(({ raw }) => isHuge(raw.ys));
  const structure = `${hasHuge}|${shown.map(({ id, style, edges }) => `${id}:${style}${edges === undefined ? '' : ':band'}`).join()}|${logX}|${logY}|${smoothing > 0}|${axis}|${scheme}|${isRanged}|${height}`;

  /** Move the tip, the crosshairs of the other charts and the highlight to the pointer. */
  const onCursor = (u: uPlot): void => {
    if (isFollowing.current) return;
    const { left = -1, top = -1 } = u.cursor;
    if (left < 0) {
      setTip(undefined);
      if (crosshair.peek()?.chart === name) crosshair.value = undefined;
      if (isHovered.current) highlighted.value = undefined;
      isHovered.current = false;
      return;
    }
    const x = u.posToVal(left, 'x');
    const near = nearTo(latest.current.shown, x);
    if (near.length > 1) {
      const away = ({ y }: Near): number => Math.abs(u.valToPos(y, 'y') - top);
      const line = near.reduce((best, one) => (away(one) < away(best) ? one : best));
      isHovered.current = away(line) <= reach;
      highlighted.value = isHovered.current ? line.id : undefined;
    }
    crosshair.value = { x, chart: name };
    setTip({ left: left + u.bbox.left / devicePixelRatio, x: closestX(near, x) });
  };

  const isReady = width > 40;
  useEffect(() => {
    const element = holder.current;
    if (element === null || !isReady) return;
    const made = makePlot(element, height, hasHuge, {
      latest: () => latest.current,
      isTouched: () => isTouched.current,
      onSelect: (from, to) => setZoom([from, to]),
      onCursor,
      onDraw(u) {
        const x = latest.current.view.at;
        const left = x === undefined ? undefined : u.valToPos(x, 'x');
        const isInside = left !== undefined && left >= 0 && left <= u.over.clientWidth;
        setFixedLeft(isInside ? left + u.bbox.left / devicePixelRatio : undefined);
      },
    });
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = undefined;
      setTip(undefined);
    };
  }, [structure, isReady]);

  useEffect(() => {
    const made = plot.current;
    if (made === undefined || !isReady) return;
    if (made.width !== width) made.setSize({ width, height });
    made.setData(plotData(shown, width, view), zoom === undefined);
    if (zoom !== undefined) made.setScale('x', { min: zoom[0], max: zoom[1] });
  }, [shown, width, view, isReady, structure, yRange]);

  useSignalEffect(() => {
    const id = highlighted.value;
    if (plot.current !== undefined) highlightIn(plot.current, latest.current.shown, id);
  });
  useSignalEffect(() => {
    const cross = crosshair.value;
    const made = plot.current;
    if (made === undefined || cross?.chart === name) return;
    isFollowing.current = true;
    made.setCursor(
      cross === undefined ? { left: -10, top: -10 } : { left: made.valToPos(cross.x, 'x'), top: 0 },
    );
    isFollowing.current = false;
  });

  /**
   * Move the crosshair and zoom with the keyboard: arrows, plus, minus, 0 to reset, Enter to fix the crosshair, and F
   * to enlarge.
   */
  const onKeyDown = (event: KeyboardEvent) => {
    const made = plot.current;
    if (made === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const { left = 0 } = made.cursor;
    const step = event.shiftKey ? 40 : 8;
    const { min = 0, max = 1 } = made.scales['x'] ?? {};
    const [low, high] = [min ?? 0, max ?? 1];
    const middle = left < 0 ? (low + high) / 2 : made.posToVal(left, 'x');
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => made.setCursor({ left: Math.max(0, left - step), top: 10 }),
      ArrowRight: () =>
        made.setCursor({ left: Math.min(made.over.clientWidth, Math.max(0, left) + step), top: 10 }),
      '+': () => setZoom([middle - (middle - low) / 2, middle + (high - middle) / 2]),
      '-': () => setZoom([middle - (middle - low) * 2, middle + (high - middle) * 2]),
      '0': () => setZoom(undefined),
      Enter: () => setAt(at === undefined ? middle : undefined),
      f: () => enlarge(name),
    };
    const act =
      event.key === 'Escape' && left >= 0 ? () => made.setCursor({ left: -10, top: -10 }) : keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  /** Move the crosshair to the finger, which cannot hover. */
  const onTouch = (event: PointerEvent) => {
    const made = plot.current;
    isTouched.current = event.pointerType !== 'mouse';
    if (event.type === 'pointerdown') pressedAt.current = event.clientX;
    if (made === undefined || !isTouched.current) return;
    const box = made.over.getBoundingClientRect();
    made.setCursor({ left: event.clientX - box.left, top: event.clientY - box.top });
  };

  /** Fix the crosshair at a click, or release it. */
  const onClick = (event: MouseEvent) => {
    const made = plot.current;
    if (made === undefined || isTouched.current || event.detail > 1) return;
    if (Math.abs(event.clientX - pressedAt.current) > clickPixels || tip === undefined) return;
    const isSame = at !== undefined && Math.abs(made.valToPos(at, 'x') - made.valToPos(tip.x, 'x')) < 8;
    setAt(isSame ? undefined : tip.x);
  };

  const ends = shown.flatMap(({ label, raw }) => {
    const last = raw.ys.at(-1);
    return last === undefined ? [] : [`${label} ends at ${numberText(last)}`];
  });
  const odd = shown.reduce((sum, { raw }) => sum + raw.ys.filter((y) => !Number.isFinite(y)).length, 0);
  const isEmpty = shown.length > 0 && shown.every(({ raw }) => raw.xs.length === 0);
  const fixed = at === undefined || fixedLeft === undefined ? undefined : { left: fixedLeft, x: at };
  const seen = tip ?? fixed;
  const drawn = (): Drawn => ({
    title: name,
    axisName: axisName(axis),
    lines: shown.map(({ label, style, raw, smooth, edges }) => ({
      label,
      colour: style,
      raw,
      smooth,
      edges,
    })),
    plot: plot.current,
    isSmoothed: smoothing > 0,
  });
  return (
    <figure class="chart">
      <figcaption>
        <strong class="ellipsis" title={name}>
          <bdi>{name}</bdi>
        </strong>
        <span class="chart-tools">{tools(drawn)}</span>
      </figcaption>
      <div
        class="plot"
        ref={holder}
        role="img"
        tabIndex={0}
        style={{ height: `${height}px` }}
        aria-label={`${name} by ${axisName(axis)}: ${ends.slice(0, 10).join('; ')}. Arrow keys move the crosshair, plus and minus zoom, F enlarges.`}
        onKeyDown={onKeyDown}
        onPointerDown={onTouch}
        onPointerMove={onTouch}
        onClick={onClick}
        onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
        onDblClick={() => setZoom(undefined)}
      >
        {seen !== undefined && (
          <Tooltip
            left={seen.left}
            isBefore={seen.left > width / 2}
            title={xText(seen.x, axis)}
            rows={nearTo(shown, seen.x)}
            isAlone={shown.length === 1}
          />
        )}
        {isEmpty && metricOfAxis(axis) !== undefined && (
          <p class="soft small over-plot">These runs have no {metricOfAxis(axis)}.</p>
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
