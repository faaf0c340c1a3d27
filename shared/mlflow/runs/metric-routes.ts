import * as z from 'zod';
import { JsonBytes } from '../../core/text/json-bytes.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import { readRuns } from '../../data/metrics/metric-history.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import type { PointRun } from '../../data/metrics/point-blocks.ts';
import type { TableReader } from '../../data/table/table.ts';
import { numberOfPosition, positionOfNumber, readPoints } from '../../experiments/read-points.ts';
import { Reply } from '../../http/definition/reply.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { runIdOf } from '../protocol/ids.ts';
import { invalidValue, mlflowError } from '../protocol/mlflow-error.ts';
import { type Route, route } from '../protocol/route.ts';
import { int64, shownDouble, shownStep, text } from '../protocol/scalars.ts';
import { requireRun, runIdField } from './find-run.ts';

const history = route(
  'GET mlflow/metrics/get-history',
  z.object({
    ...runIdField,
    metric_key: text.min(1),
    max_results: int64.refine((value) => value > 0, 'It must be a positive integer.').optional(),
    page_token: text.optional(),
  }),
  async ({ run_id, metric_key, max_results = Number.POSITIVE_INFINITY, page_token = '' }, context) => {
    const from = page_token === '' ? 0 : numberOfPosition(page_token);
    if (from === undefined) throw invalidValue('page_token', page_token, 'it is not a token of this history');
    const { records } = context;
    const { experiment_id } = (await requireRun(context, run_id, 'viewer')).experiment;
    return Reply.passing(
      'application/json',
      await historyPage(records, experiment_id, metric_key, from, max_results),
    );
  },
);

/** Serialize points of a metric in MLflow's format. */
class HistoryWriter {
  readonly json = new JsonBytes(firstCapacity);
  readonly #head: Uint8Array;
  #count = 0;

  constructor(name: string) {
    this.#head = Buffer.from(`{"key":${JSON.stringify(name)},"value":`);
    this.json.ascii('{"metrics":[');
  }

  /** Number of points written. */
  get count(): number {
    return this.#count;
  }

  add({ steps, times, values }: PointRun, at: number): void {
    const { json } = this;
    if (this.#count > 0) json.ascii(',');
    this.#count += 1;
    json.raw(this.#head);
    this.#add(shownDouble(values[at] ?? Number.NaN));
    json.ascii(',"timestamp":');
    json.number(times[at] ?? 0);
    json.ascii(',"step":');
    const step = steps[at] ?? Number.NaN;
    this.#add(shownStep(Number.isNaN(step) ? null : step));
    json.ascii('}');
  }

  #add(shown: number | string): void {
    if (typeof shown === 'number') this.json.number(shown);
    else this.json.ascii(`"${shown}"`);
  }

  /** Return the whole page. @param next number of the first point of the next page */
  end(next?: number): Uint8Array {
    this.json.ascii(next === undefined ? ']}' : `],"next_page_token":"${positionOfNumber(next)}"}`);
    return this.json.bytes();
  }
}

const firstCapacity = 64_000;

/** Size in bytes at which a page is full. Lambda limits a base64 response to 4.1 MB of content. */
const pageBytes = 3_900_000;

/** Maximum number of points of a response for several runs. They make 4 MB of JSON. */
const maxPage = 25_000;

const showPoint = ({ name, value, step, time }: MetricPoint): object => ({
  key: name,
  value: shownDouble(value),
  timestamp: time,
  step: shownStep(step),
});

/** Return the first points of several runs. MLflow's web UI before 2.3 compares runs with it. */
const bulk = route(
  'GET mlflow/metrics/get-history-bulk',
  z.object({
    run_id: z.array(text.min(1)).default([]),
    metric_key: text.default(''),
    max_results: int64.refine((value) => value > 0, 'It must be a positive integer.').optional(),
  }),
  async ({ run_id, metric_key, max_results = maxPage }, context) => {
    const isAsked = 'GetMetricHistoryBulk request';
    if (run_id.length === 0)
      throw mlflowError('INVALID_PARAMETER_VALUE', `${isAsked} must specify at least one run_id.`);
    if (run_id.length > maxRuns)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        `${isAsked} cannot specify more than ${maxRuns} run_ids. Received ${run_id.length}.`,
      );
    if (metric_key === '')
      throw mlflowError('INVALID_PARAMETER_VALUE', `${isAsked} must specify a metric_key.`);
    const most = Math.min(max_results, maxPage);
    const metrics: object[] = [];
    const runs = await experimentsOf(context, run_id.toSorted());
    for (const experiment of runs) {
      const points: MetricPoint[] = [];
      for await (const page of pagesOf(context, experiment.experiment_id, metric_key)) {
        points.push(...page);
        if (points.length + metrics.length >= most) break;
      }
      const shown = points.slice(0, most - metrics.length);
      metrics.push(...shown.map((point) => ({ ...showPoint(point), run_id: runIdOf(experiment) })));
    }
    return { metrics };
  },
);

/** Maximum number of runs in one comparison, and of points of each. */
const maxRuns = 100;
const maxSample = 2500;

const bulkInterval = route(
  'GET mlflow/metrics/get-history-bulk-interval',
  z.object({
    run_ids: z
      .array(text.min(1))
      .min(1)
      .max(maxRuns, `GetMetricHistoryBulkInterval request must specify at most ${maxRuns} run_ids.`),
    metric_key: text.min(1),
    start_step: int64.optional(),
    end_step: int64.optional(),
    max_results: int64
      .refine((value) => value > 0 && value <= maxSample, `max_results must be between 1 and ${maxSample}`)
      .default(320),
  }),
  async ({ run_ids, metric_key, start_step, end_step, max_results }, context) => {
    if ((start_step === undefined) !== (end_step === undefined))
      throw invalidValue(
        'start_step',
        start_step,
        'If either start step or end step are specified, both must be specified.',
      );
    if (start_step !== undefined && end_step !== undefined && start_step > end_step)
      throw invalidValue('end_step', end_step, 'end_step must be greater than start_step. ');
    const interval = [start_step ?? -Infinity, end_step ?? Infinity] as const;
    const runs = await experimentsOf(context, run_ids);
    const pages = (experiment: Experiment) =>
      pagesOf(context, experiment.experiment_id, metric_key, interval);
    const steps = await comparedSteps(runs.map(pages), max_results);
    const metrics: object[] = [];
    for (const experiment of runs) {
      const points: MetricPoint[] = [];
      for await (const page of pages(experiment))
        points.push(...page.filter(({ step }) => steps.has(step ?? 0)));
      const shown = points
        .toSorted((a, b) => (a.step ?? 0) - (b.step ?? 0) || a.time - b.time)
        .slice(0, maxSample);
      metrics.push(...shown.map((point) => ({ ...showPoint(point), run_id: runIdOf(experiment) })));
    }
    return { metrics };
  },
);

export const metricRoutes: readonly Route[] = [history, bulk, bulkInterval];

/**
 * Return a page of a metric's history as JSON, beginning with the point number `from`. It is written directly from
 * the columns of the blocks: an object for each of a hundred thousand points takes ten times as long.
 */
async function historyPage(
  records: TableReader<'records'>,
  experiment_id: string,
  name: string,
  from: number,
  limit: number,
): Promise<Uint8Array> {
  const page = new HistoryWriter(name);
  for await (const { runs } of readRuns(records, experiment_id, new Set([name]), from)) {
    // Column runs of one metric do not overlap, so sort them by their first number.
    for (const run of runs.toSorted((a, b) => (a.numbers[0] ?? 0) - (b.numbers[0] ?? 0)))
      for (let at = 0; at < run.values.length; at += 1) {
        if (page.count === limit || page.json.length > pageBytes) return page.end(run.numbers[at]);
        page.add(run, at);
      }
  }
  return page.end();
}

async function experimentsOf(context: MlflowContext, run_ids: readonly string[]): Promise<Experiment[]> {
  const found: Experiment[] = [];
  for (const run_id of run_ids) found.push((await requireRun(context, run_id, 'viewer')).experiment);
  return found;
}

/** Yield the points of a run's metric between two steps, page by page. */
async function* pagesOf(
  { records }: MlflowContext,
  experiment_id: string,
  name: string,
  [first, last]: readonly [number, number] = [-Infinity, Infinity],
): AsyncGenerator<MetricPoint[]> {
  for (let from: string | undefined; ; ) {
    const page = await readPoints(records, experiment_id, { names: [name] }, from);
    yield page.rows.filter(({ step }) => (step ?? 0) >= first && (step ?? 0) <= last);
    if (!page.more) return;
    from = page.position;
  }
}

/** Choose the steps at which runs are compared: a sample of all steps, and the first and last step of each run. */
async function comparedSteps(
  pages: readonly AsyncIterable<MetricPoint[]>[],
  most: number,
): Promise<Set<number>> {
  const all = new Set<number>();
  const ends: number[] = [];
  for (const run of pages) {
    let [first, last] = [Infinity, -Infinity];
    for await (const page of run)
      for (const { step } of page) {
        all.add(step ?? 0);
        first = Math.min(first, step ?? 0);
        last = Math.max(last, step ?? 0);
      }
    if (first <= last) ends.push(first, last);
  }
  const sorted = [...all].sort((a, b) => a - b);
  return new Set([...sampled(sorted, most), ...ends]);
}

/** Sample `most` steps at even distances, beginning with the first, and add the last. */
function sampled(steps: readonly number[], most: number): number[] {
  if (steps.length <= most) return [...steps];
  const indexes = Array.from({ length: most }, (_, index) => Math.floor((index * steps.length) / most));
  return [...indexes, steps.length - 1].flatMap((index) => steps[index] ?? []);
}
