import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { Chart } from './chart.tsx';
import { ChartTools } from './chart-tools.tsx';
import type { ChartCurve } from './plot.ts';
import type { Curve } from './reading/curve.ts';
import { meanCurve } from './reading/mean-curve.ts';
import type { RunCurves } from './reading/run-curves.ts';
import type { ListedRun } from './run-list.tsx';
import { metricOfAxis } from './series.ts';
import { type ChartView, pinnedCharts } from './view.ts';

const chartHeight = 240;
/** Charts are drawn shortly before they come into view. */
const margin = '300px';

/** Return the curves of a metric. The answer stays the same until a curve has grown. */
function useMetricCurves(
  name: string,
  runs: readonly ListedRun[],
  read: RunCurves,
  byName: string | undefined,
) {
  const found = runs.flatMap(({ id, name: label, style, members }) => {
    const ids = members ?? [id];
    const curves = ids.flatMap((one) => read.curve(one, name) ?? []);
    const bys = byName === undefined ? [] : ids.flatMap((one) => read.curve(one, byName) ?? []);
    return curves.length === 0 ? [] : [{ id, label, style, curves, bys, isMean: members !== undefined }];
  });
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
    [signature, name, byName],
  );
}

/** Chart of a metric that is read and drawn once it comes into view. */
export function LazyChart({
  name,
  runs,
  read,
  view,
  height = chartHeight,
  isEnlarged = false,
}: {
  name: string;
  runs: readonly ListedRun[];
  read: RunCurves;
  view: ChartView;
  height?: number;
  isEnlarged?: boolean;
}) {
  const holder = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(isEnlarged);
  const byName = metricOfAxis(view.axis);
  const curves = useMetricCurves(name, runs, read, byName);
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
  useEffect(() => {
    if (!isSeen) return;
    read.want(name);
    if (byName !== undefined) read.want(byName);
  }, [isSeen, name, byName]);
  return (
    <div ref={holder} class="chart-place" style={{ minHeight: `${height + 60}px` }}>
      {isSeen && curves.length === 0 && !read.hasRead(name) && (
        <figure class="chart" style={{ height: `${height + 58}px` }}>
          <Skeleton rows={5} />
        </figure>
      )}
      {isSeen && (curves.length > 0 || read.hasRead(name)) && (
        <Chart
          name={name}
          curves={curves}
          view={view}
          height={height}
          readRange={read.readRange}
          tools={(drawn) => (
            <ChartTools
              name={name}
              isPinned={pinnedCharts().includes(name)}
              isEnlarged={isEnlarged}
              drawn={drawn}
            />
          )}
        />
      )}
    </div>
  );
}
