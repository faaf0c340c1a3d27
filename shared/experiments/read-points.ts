import { badRequest } from '../core/service-error.ts';
import { readMetrics } from '../data/metrics/job-metrics.ts';
import { readRuns } from '../data/metrics/metric-history.ts';
import type { MetricPoint } from '../data/metrics/metric-summary.ts';
import type { PointRun } from '../data/metrics/point-blocks.ts';
import { isStreamPosition, type StreamPage } from '../data/packed/chunk-stream.ts';
import type { TableReader } from '../data/table/table.ts';
import { CurveBuckets } from '../drawing/metric-chart/curve-buckets.ts';
import { isSystemMetric } from '../metrics/system-metric.ts';

/** Return points of a job from a position on, in report order: at most `limit`, and 3 MB of JSON. */
export async function readPoints(
  records: Records,
  job_id: string,
  wantedPoints: WantedPoints,
  from: string | undefined,
  limit = maxRead,
): Promise<StreamPage<MetricPoint>> {
  const { names, step_from, step_to } = wantedPoints;
  const isRange = step_from !== undefined || step_to !== undefined;
  const number = from === undefined ? undefined : numberOfPosition(from);
  if (number === undefined && names === undefined && !isRange)
    return readMetrics(records, job_id, from, { limit, maxBytes });
  return readHistory(records, job_id, wantedPoints, number ?? 0, limit);
}

type Records = TableReader<'records'>;

/** Selection of an experiment's points. */
export interface WantedPoints {
  /** Metric names. Default: all. */
  names?: readonly string[] | undefined;
  /** A range of steps excludes points without a step. */
  step_from?: number | undefined;
  step_to?: number | undefined;
}

/** Maximum points of one read. This many typical points make 4 MB of JSON. */
const maxRead = 40_000;

/** Return the point number of a position among some metrics. Return undefined for a position among all metrics. */
export const numberOfPosition = (text: string): number | undefined => {
  const number = numberPattern.exec(text)?.[1];
  return number === undefined ? undefined : Number(number);
};

/** Position among the points of some metrics: the number of a point in report order. */
const numberPattern = /^n(\d{1,15})$/;

const maxBytes = 3_000_000;

/** Return points of some metrics from a number on, without a read of the other metrics. */
async function readHistory(
  records: Records,
  job_id: string,
  wantedPoints: WantedPoints,
  from: number,
  limit: number,
): Promise<StreamPage<MetricPoint>> {
  const rows: MetricPoint[] = [];
  const names = wantedPoints.names && new Set(wantedPoints.names);
  const all = wantedPoints.step_from === undefined && wantedPoints.step_to === undefined;
  let bytes = 0;
  let end = from;
  for await (const group of readRuns(records, job_id, names, from)) {
    for (const { number, point } of inOrder(group.runs)) {
      if (!all && !isInRange(point.step ?? Number.NaN, wantedPoints)) continue;
      if (rows.length === limit || bytes > maxBytes)
        return { rows, position: positionOfNumber(number), more: true };
      rows.push(point);
      bytes += Buffer.byteLength(point.name) + pointBytes;
    }
    end = group.end;
  }
  return { rows, position: positionOfNumber(end), more: false };
}

/** Yield the points of runs in report order, with their numbers. */
export function* inOrder(runs: readonly PointRun[]): Generator<{ number: number; point: MetricPoint }> {
  const places = runs.map((run) => ({ run, at: 0 }));
  for (;;) {
    let next: (typeof places)[number] | undefined;
    for (const place of places) {
      const number = place.run.numbers[place.at];
      if (number !== undefined && number < (next?.run.numbers[next.at] ?? Number.POSITIVE_INFINITY))
        next = place;
    }
    if (next === undefined) return;
    const { run, at } = next;
    const step = run.steps[at] ?? Number.NaN;
    yield {
      number: run.numbers[at] ?? 0,
      point: {
        name: run.name,
        value: run.values[at] ?? Number.NaN,
        step: Number.isNaN(step) ? null : step,
        time: run.times[at] ?? 0,
      },
    };
    next.at += 1;
  }
}

/** Whether a step is in the wanted range. */
export const isInRange = (step: number, { step_from, step_to }: WantedPoints): boolean =>
  (step_from === undefined || step >= step_from) && (step_to === undefined || step <= step_to);

/** Return the position of a point number. */
export const positionOfNumber = (number: number): string => `n${number}`;

/** Maximum bytes of a point as JSON, without its name. */
const pointBytes = 130;

/** Whether a text is a position from a page of these points. Pages of all points have positions of chunks. */
export const isPointsPosition = (text: string, { names, step_from, step_to }: WantedPoints): boolean =>
  numberPattern.test(text) ||
  (names === undefined && step_from === undefined && step_to === undefined && isStreamPosition(text));

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
