import { badRequest } from '../../../shared/core/service-error.ts';
import { readRuns } from '../../../shared/data/metrics/metric-history.ts';
import type { MetricPoint } from '../../../shared/data/metrics/metric-summary.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { CurveBuckets } from '../../../shared/drawing/metric-chart/curve-buckets.ts';
import { isInRange, type WantedPoints } from '../../../shared/experiments/read-points.ts';

/**
 * The curves of metrics, each of at most `most` points: all where there are no more, else the first, the last, and the
 * lowest and highest of each bucket of steps. A point without a step counts as at its number among those of its metric.
 * @throws ServiceError `bad-request` where they are too many to be answered
 */
export async function readCurves(
  records: TableReader<'records'>,
  job_id: string,
  wanted: WantedPoints,
  most: number,
): Promise<MetricPoint[]> {
  const curves = new Map<string, Curve>();
  const names = wanted.names && new Set(wanted.names);
  const all = wanted.step_from === undefined && wanted.step_to === undefined;
  for await (const { runs } of readRuns(records, job_id, names)) {
    for (const { name, steps, times, values } of runs) {
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
        if (!all && !isInRange(step, wanted)) continue;
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
  /** Points that were seen. */
  count = 0;

  constructor(most: number) {
    this.buckets = new CurveBuckets(most);
  }
}

/** Metrics of one answer at most, and points of all their curves together. */
const maxCurves = 100;
const maxPoints = 40_000;
