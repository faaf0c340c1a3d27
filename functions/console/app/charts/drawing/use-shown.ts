import { useMemo } from 'preact/hooks';
import type { Curve } from '../reading/curve.ts';
import { useFiner } from '../reading/finer.ts';
import { type Line, lineOf, smoothed, stepsIn, usualRange } from '../series.ts';
import { type ChartView, type Range, yRangeOf } from '../view.ts';
import type { ChartCurve, Shown } from './plot.ts';

/** Read the thinned curves of a metric again between two steps, by experiment ID. */
export type ReadRange = (
  name: string,
  from: number,
  to: number,
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, Curve>>;

/** Lines of a chart, in the finest detail that is read, with their vertical range if it is not automatic. */
export function useShown(
  name: string,
  given: readonly ChartCurve[],
  view: ChartView,
  readRange: ReadRange,
): { shown: readonly Shown[]; yRange: Range | undefined } {
  const { axis, logY, smoothing, zoom, isWithoutOutliers } = view;
  const steps = useMemo(() => zoom && stepsIn(given, axis, zoom), [given, axis, zoom]);
  const finer = useFiner(given, steps, (from, to, signal) => readRange(name, from, to, signal));
  const curves = useMemo(
    () => given.map((one) => ({ ...one, curve: finer?.get(one.id) ?? one.curve })),
    [given, finer],
  );
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
  const setRange = yRangeOf(name);
  const yRange = useMemo(
    () => setRange ?? (isWithoutOutliers ? usualRange(shown.map(({ smooth }) => smooth)) : undefined),
    [shown, isWithoutOutliers, setRange?.[0], setRange?.[1]],
  );
  return { shown, yRange: yRange !== undefined && logY && yRange[0] <= 0 ? undefined : yRange };
}
