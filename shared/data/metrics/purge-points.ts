import { isSystemMetric } from '../../metrics/system-metric.ts';
import type { TableWriter, Write } from '../table/table.ts';
import { metricChunks, pointsIn, replaceMetricChunk } from './job-metrics.ts';
import { readRuns } from './metric-history.ts';
import { maxSparklines } from './metric-summaries.ts';
import { type MetricSummary, withPoint } from './metric-summary.ts';
import { compactPoints, filterBlocks } from './point-blocks.ts';

/** Points that a writer of metrics declares void: those of some metrics from a step on. */
export interface VoidPoints {
  names: ReadonlySet<string>;
  step: number;
}

/** Whether a point is void. A point without a step counts as one of step 0. */
export const isVoid = ({ names, step }: VoidPoints, point: { name: string; step: number | null }): boolean =>
  names.has(point.name) && (point.step ?? 0) >= step;

/**
 * Remove points of a job. The others keep their numbers, so that readers who follow the job miss none. All points are in
 * blocks before any chunk changes, because readers cache chunks that are not. Repeating it is harmless. Only the writer of
 * the points may call it.
 *
 * @param guard fails once another writer has taken over
 * @returns the summaries of the metrics that have points left
 */
export async function purgePoints(
  records: TableWriter<'records'>,
  job_id: string,
  voidPoints: VoidPoints,
  guard: Write,
): Promise<Map<string, MetricSummary>> {
  await compactPoints(records, job_id, true);
  await filterBlocks(records, job_id, guard, (name, step) => !isVoid(voidPoints, { name, step }));
  for await (const { name, read } of metricChunks(records, job_id, undefined)) {
    const points = pointsIn(await read());
    const kept = points.filter((point) => !isVoid(voidPoints, point));
    if (kept.length < points.length) await records.write(guard, replaceMetricChunk(job_id, name, kept));
  }
  const left = new Map<string, MetricSummary>();
  for await (const { runs } of readRuns(records, job_id, voidPoints.names))
    for (const { name, steps, times, values } of runs)
      for (const [at, value] of values.entries()) {
        const step = steps[at] ?? Number.NaN;
        const point = { name, value, step: Number.isNaN(step) ? null : step, time: times[at] ?? 0 };
        left.set(name, withPoint(left.get(name), point, left.size < maxSparklines && !isSystemMetric(name)));
      }
  return left;
}
