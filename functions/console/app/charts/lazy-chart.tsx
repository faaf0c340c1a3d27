import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { lineCount } from '../theme/colours.ts';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { Chart } from './chart.tsx';
import type { SeenChart } from './chart-report.ts';
import { ChartTools } from './chart-tools.tsx';
import type { ChartCurve } from './drawing/plot.ts';
import { ChartPlace, plotHeightOf } from './panels/chart-place.tsx';
import { chartSize } from './panels/panel-view.ts';
import type { Curve } from './reading/curve.ts';
import { meanCurve } from './reading/mean-curve.ts';
import type { RunCurves } from './reading/run-curves.ts';
import type { ListedRun } from './run-list.tsx';
import { metricOfAxis } from './series.ts';
import { type ChartView, pinnedCharts } from './view.ts';

/** Charts are drawn shortly before they come into view. */
const margin = '300px';

/** A curve among those of a chart: of one metric by its run, of several also by the metric. */
const lookOf = (
  { id, name: label, style }: ListedRun,
  metric: string,
  at: number,
  isAlone: boolean,
): Pick<ChartCurve, 'id' | 'label' | 'style'> => ({
  id: `${id} ${metric}`,
  label: isAlone ? metric : `${label} · ${metric}`,
  // Runs differ by colours, metrics by dashes.
  style: isAlone ? at : (style % lineCount) + lineCount * at,
});

/** Return the curves of metrics. The answer stays the same until a curve has grown. */
function useMetricCurves(
  metrics: readonly string[],
  runs: readonly ListedRun[],
  read: RunCurves,
  byName: string | undefined,
) {
  const found = metrics.flatMap((metric, at) =>
    runs.flatMap((run) => {
      const ids = run.members ?? [run.id];
      const curves = ids.flatMap((member) => read.curve(member, metric) ?? []);
      const bys = byName === undefined ? [] : ids.flatMap((member) => read.curve(member, byName) ?? []);
      const look =
        metrics.length === 1
          ? { id: run.id, label: run.name, style: run.style }
          : lookOf(run, metric, at, runs.length === 1);
      return curves.length === 0 ? [] : [{ ...look, curves, bys, isMean: run.members !== undefined }];
    }),
  );
  const size = ({ values, reported }: Curve): string => `${values.length}/${reported ?? ''}`;
  const sizes = (all: readonly Curve[]): string => all.map(size).join('+');
  const signature = found
    .map(({ id, style, curves, bys }) => `${id}:${style}:${sizes(curves)}:${sizes(bys)}`)
    .join();
  return useMemo<ChartCurve[]>(
    () =>
      found.flatMap(({ curves, bys, isMean, ...run }) => {
        if (isMean) {
          const { mean, low, high } = meanCurve(curves);
          const by = bys.length === 0 ? undefined : meanCurve(bys).mean;
          return [{ ...run, curve: mean, by, band: { low, high } }];
        }
        // Readers add points to the same arrays, so a copy tells that there are more.
        return curves.map((curve) => ({ ...run, curve: { ...curve }, by: bys[0] }));
      }),
    [signature, metrics.join('\0'), byName],
  );
}

/** Return whether an element has come near the visible part of the page. */
function useSeen(holder: RefObject<HTMLElement | null>, isSeenAtFirst: boolean): boolean {
  const [isSeen, setSeen] = useState(isSeenAtFirst);
  useEffect(() => {
    const element = holder.current;
    if (element === null || isSeen) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: margin },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isSeen]);
  return isSeen;
}

/** Lines of a panel keep the detail that they have. */
const readNothing = async () => new Map<string, Curve>();

interface Charted {
  name: string;
  /** Metrics of a panel; those of other charts are their names. */
  metrics?: readonly string[];
  runs: readonly ListedRun[];
  read: RunCurves;
  view: ChartView;
}

/** Chart of a metric in its place among the others. It is read and drawn once it comes into view. */
export function LazyChart({ among, ...chart }: Charted & { among: readonly string[] }) {
  const holder = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(holder, false);
  const { high } = chartSize(chart.name);
  return (
    <ChartPlace name={chart.name} among={among} holder={holder}>
      {isSeen && <ReadChart {...chart} height={plotHeightOf(high)} among={among} />}
    </ChartPlace>
  );
}

/** Chart of a metric that fills a dialog. */
export const EnlargedChart = (chart: Charted) => (
  <div class="chart-place filling">
    <ReadChart {...chart} height={undefined} among={[]} />
  </div>
);

/** Return what a report shows of a chart; undefined for means of groups, which no block draws. */
const seenOf = (
  metrics: readonly string[],
  runs: readonly ListedRun[],
  { axis, at, logY }: ChartView,
): SeenChart | undefined =>
  runs.some(({ members }) => members !== undefined)
    ? undefined
    : {
        metrics,
        experiments: runs.map(({ id }) => id),
        isLog: logY,
        step: axis === 'step' && at !== undefined ? Math.round(at) : undefined,
      };

function ReadChart({
  name,
  metrics = [name],
  runs,
  read,
  view,
  height,
  among,
}: Charted & { height: number | undefined; among: readonly string[] }) {
  const byName = metricOfAxis(view.axis);
  const curves = useMetricCurves(metrics, runs, read, byName);
  const isPanel = metrics[0] !== name;
  const title = metrics.join(', ');
  useEffect(() => {
    for (const metric of metrics) read.want(metric);
    if (byName !== undefined) read.want(byName);
  }, [name, byName]);
  const isReading = !metrics.every(read.hasRead);
  if (curves.length === 0 && isReading)
    return (
      <figure class="chart filling">
        <Skeleton rows={5} />
      </figure>
    );
  return (
    <Chart
      name={name}
      title={title}
      curves={curves}
      view={view}
      height={height}
      isReading={isReading}
      readRange={isPanel ? readNothing : read.readRange}
      tools={(drawn) => (
        <ChartTools
          name={name}
          title={title}
          isPanel={isPanel}
          isPinned={pinnedCharts().includes(name)}
          isEnlarged={height === undefined}
          among={among}
          seen={seenOf(metrics, runs, view)}
          drawn={drawn}
        />
      )}
    />
  );
}
