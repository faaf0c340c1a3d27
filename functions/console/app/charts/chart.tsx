import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { numberText } from '../ui/text/format.ts';
import { onChartKey, usePointer } from './drawing/chart-hands.ts';
import { type ChartCurve, hideCursor, nearTo, type Shown } from './drawing/plot.ts';
import { usePlot } from './drawing/use-plot.ts';
import { type ReadRange, useShown } from './drawing/use-shown.ts';
import type { Drawn } from './export.ts';
import { metricOfAxis, oddText, type XAxis } from './series.ts';
import { Tooltip } from './tooltip.tsx';
import { useSize } from './values/use-canvas.ts';
import type { ChartView } from './view.ts';

const axisName = (axis: XAxis): string =>
  metricOfAxis(axis) ??
  { step: 'step', time: 'time', relative: 'seconds since the first point' }[axis as 'step'];

const xText = (x: number, axis: XAxis): string =>
  axis === 'time'
    ? new Date(x * 1000).toLocaleString()
    : axis === 'relative'
      ? `${numberText(x)} s`
      : `${metricOfAxis(axis) ?? 'step'} ${numberText(x)}`;

const lastValues = (shown: readonly Shown[]): string =>
  shown
    .flatMap(({ label, raw }) => {
      const last = raw.ys.at(-1);
      return last === undefined ? [] : [`${label} ends at ${numberText(last)}`];
    })
    .slice(0, 10)
    .join('; ');

/** Number of values that are marked at the edge of a chart, because no line can show them. */
const OddValues = ({ shown }: { shown: readonly Shown[] }) => {
  // The chart is drawn again at each move of the pointer.
  const odd = useMemo(() => oddText(shown.map(({ raw }) => raw)), [shown]);
  if (odd === undefined) return null;
  const isThinned = shown.some(({ curve }) => curve.reported !== undefined);
  const text = isThinned ? odd.replace(/^\S+/, 'some') : odd;
  return (
    <small class="odd-values" title={`${text}: gaps in the line, marked at the edge`}>
      {text}
    </small>
  );
};

/** Curves of one metric. All charts of a page share crosshair, zoom and highlight. */
export function Chart({
  name,
  title = name,
  curves,
  view,
  height: given,
  isReading = false,
  readRange,
  tools,
}: {
  /** Name by which settings of the chart are kept. */
  name: string;
  /** What it is called; its name by default. */
  title?: string;
  curves: readonly ChartCurve[];
  view: ChartView;
  /** Height of the plot in pixels; undefined to fill what is around it. */
  height: number | undefined;
  /** Whether some of its curves are not read yet; by default none. */
  isReading?: boolean;
  readRange: ReadRange;
  tools: (drawn: () => Drawn) => ComponentChildren;
}) {
  const [holder, size] = useSize<HTMLDivElement>();
  const { axis, at, smoothing } = view;
  const height = given ?? size.height;
  const { shown, yRange } = useShown(name, curves, view, readRange);
  const { plot, isTouched, pointed, fixedLeft } = usePlot(holder, {
    name,
    shown,
    view,
    yRange,
    width: size.width,
    height,
  });
  const pointer = usePointer({ name, plot, isTouched, at, pointedX: pointed?.x });
  const fixed = at === undefined || fixedLeft === undefined ? undefined : { left: fixedLeft, x: at };
  const seen = pointed ?? fixed;
  const isEmpty = shown.length > 0 && shown.every(({ raw }) => raw.xs.length === 0);
  const drawn = (): Drawn => ({
    title,
    axisName: axisName(axis),
    lines: shown.map((line) => ({ ...line, colour: line.style })),
    plot: plot.current ?? undefined,
    isSmoothed: smoothing > 0,
  });
  return (
    <figure class={given === undefined ? 'chart filling' : 'chart'} aria-busy={isReading}>
      <figcaption draggable={given !== undefined}>
        <strong class="ellipsis" title={title}>
          <bdi>{title}</bdi>
        </strong>
        <OddValues shown={shown} />
        <span class="chart-tools">{tools(drawn)}</span>
      </figcaption>
      <div
        class="plot"
        ref={holder}
        role="img"
        tabIndex={0}
        {...(given !== undefined && { style: { height: `${given}px` } })}
        aria-label={`${title} by ${axisName(axis)}: ${lastValues(shown)}. Arrow keys move the crosshair, plus and minus zoom, F enlarges.`}
        onKeyDown={(event) => onChartKey(event, { name, plot, at })}
        {...pointer}
        onBlur={() => plot.current && hideCursor(plot.current)}
      >
        {seen !== undefined && (
          <Tooltip
            {...seen}
            size={{ width: size.width, height }}
            plot={plot.current ?? undefined}
            title={xText(seen.x, axis)}
            rows={nearTo(shown, seen.x)}
            isAlone={shown.length === 1}
          />
        )}
        {isEmpty && metricOfAxis(axis) !== undefined && (
          <p class="soft small over-plot">These runs have no {metricOfAxis(axis)}.</p>
        )}
      </div>
    </figure>
  );
}
