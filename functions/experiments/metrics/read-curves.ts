import { badRequest } from '../../../shared/core/service-error.ts';
import { readRuns } from '../../../shared/data/metrics/metric-history.ts';
import type { MetricPoint } from '../../../shared/data/metrics/metric-summary.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { CurveBuckets } from '../../../shared/drawing/metric-chart/curve-buckets.ts';
import { isInRange, type WantedPoints } from '../../../shared/experiments/read-points.ts';
import { isSystemMetric } from '../../../shared/metrics/system-metric.ts';

/**
 * Read the curves of metrics, each with at most `most` points. A longer curve is reduced to the first and last
 * point, and the lowest and highest of each bucket of steps. A point without a step uses its index among the
 * points of its metric as step.
 * @throws ServiceError `bad-request` for more curves or points than a response may have
 */
export async function readCurves(
  records: TableReader<'records'>,
  job_id: string,
  wantedPoints: WantedPoints,
  most: number,
): Promise<MetricPoint[]> {
  const curves = new Map<string, Curve>();
  const names = wantedPoints.names && new Set(wantedPoints.names);
  const all = wantedPoints.step_from === undefined && wantedPoints.step_to === undefined;
  for await (const { runs } of readRuns(records, job_id, names)) {
    for (const { name, steps, times, values } of runs) {
      if (names === undefined && isSystemMetric(name)) continue;
      let curve = curves.get(name);
      if (curve === undefined) {
        curve = new Curve(most);
        curves.set(name, curve);
        if (curves.size > maxCurves || curves.size * most > Math.max(most, maxPoints)) {
          const message = `chooses too many points: ask for at most ${maxCurves} metrics by name, and for fewer points`;
          throw badRequest([{ in: 'query', name: 'points', message }]);
        }
      }
      const { buckets } = curve;
      for (let at = 0; at < values.length; at += 1) {
        const step = steps[at] ?? Number.NaN;
        const index = curve.count;
        curve.count += 1;
        if (!all && !isInRange(step, wantedPoints)) continue;
        buckets.add(Number.isNaN(step) ? index : step, values[at] ?? Number.NaN, index, step, times[at] ?? 0);
      }
    }
  }
  return [...curves].flatMap(([name, { buckets }]) =>
    buckets.points().map(({ y, step, time }) => ({
      name,
      value: y,
      step: Number.isNaN(step) ? null : step,
      time,
    })),
  );
}

class Curve {
  readonly buckets: CurveBuckets;
  /** Number of points seen so far. */
  count = 0;

  constructor(most: number) {
    this.buckets = new CurveBuckets(most);
  }
}

/** Maximum number of metrics of one response, and of points of all their curves together. */
const maxCurves = 100;
const maxPoints = 40_000;
