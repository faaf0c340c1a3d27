import * as z from 'zod';
import type { MetricPoint } from '../../../shared/data/job-metrics.ts';
import { isPointsPosition, readPoints } from '../../experiments/read-points.ts';
import { runIdOf } from '../ids.ts';
import { invalidValue } from '../protocol/mlflow-error.ts';
import { type Route, route } from '../protocol/route.ts';
import { int64, shownDouble, text } from '../protocol/scalars.ts';
import { requireRun } from './find-run.ts';
import { runIdField } from './run-id-field.ts';

/** Points of an answer: so many make 4 MB of JSON. Clients follow the token. */
const pageMost = 25_000;

const showPoint = ({ name, value, step, time }: MetricPoint): object => ({
  key: name,
  value: shownDouble(value),
  timestamp: Date.parse(time),
  step: step ?? 0,
});

const history = route(
  'GET mlflow/metrics/get-history',
  z.object({
    ...runIdField,
    metric_key: text.min(1),
    max_results: int64.refine((value) => value > 0, 'It must be a positive integer.').optional(),
    page_token: text.optional(),
  }),
  async ({ run_id, metric_key, max_results = pageMost, page_token = '' }, context) => {
    if (page_token !== '' && !isPointsPosition(page_token))
      throw invalidValue('page_token', page_token, 'it is no token of this history');
    const { experiment } = await requireRun(context, run_id, 'viewer');
    const { rows, position, more } = await readPoints(
      context.records,
      experiment.experiment_id,
      { names: [metric_key] },
      page_token === '' ? undefined : page_token,
      Math.min(max_results, pageMost),
    );
    return { metrics: rows.map(showPoint), ...(more && { next_page_token: position }) };
  },
);

/** Most runs and points of each that one request compares. */
const runsMost = 100;
const sampleMost = 2500;

/** So many of the points, spread evenly from the first on, and the last. */
function sampled(points: readonly MetricPoint[], most: number): MetricPoint[] {
  if (points.length <= most) return [...points];
  const indexes = Array.from({ length: most }, (_, index) => Math.floor((index * points.length) / most));
  return [...new Set([...indexes, points.length - 1])].flatMap((index) => points[index] ?? []);
}

const bulk = route(
  'GET mlflow/metrics/get-history-bulk-interval',
  z.object({
    run_ids: z.array(text.min(1)).min(1).max(runsMost),
    metric_key: text.min(1),
    start_step: int64.optional(),
    end_step: int64.optional(),
    max_results: int64.refine((value) => value > 0 && value <= sampleMost).default(320),
  }),
  async ({ run_ids, metric_key, start_step, end_step, max_results }, context) => {
    if ((start_step === undefined) !== (end_step === undefined))
      throw invalidValue('start_step', start_step, 'both steps or neither must be given');
    if (start_step !== undefined && end_step !== undefined && start_step > end_step)
      throw invalidValue('end_step', end_step, 'it must not be below start_step');
    const metrics: object[] = [];
    for (const run_id of run_ids) {
      const { experiment } = await requireRun(context, run_id, 'viewer');
      const points: MetricPoint[] = [];
      for (let from: string | undefined; ; ) {
        const page = await readPoints(
          context.records,
          experiment.experiment_id,
          { names: [metric_key] },
          from,
        );
        points.push(
          ...page.rows.filter(
            ({ step }) => (step ?? 0) >= (start_step ?? -Infinity) && (step ?? 0) <= (end_step ?? Infinity),
          ),
        );
        if (!page.more) break;
        from = page.position;
      }
      const ordered = points.toSorted((one, other) => (one.step ?? 0) - (other.step ?? 0));
      const shown = sampled(ordered, max_results);
      metrics.push(...shown.map((point) => ({ ...showPoint(point), run_id: runIdOf(experiment) })));
    }
    return { metrics };
  },
);

export const metricRoutes: readonly Route[] = [history, bulk];
