import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import {
  type Experiment,
  experimentKey,
  parseExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import { nothingTracked, readTrackingOfEach } from '../../../shared/data/experiments/tracking.ts';
import { JobStatus } from '../../../shared/data/jobs/job-status.ts';
import { type Sweep, TrialParams } from '../../../shared/data/sweeps/sweep.ts';
import { lastTry, RunOutcome, type RunTry, type SweepRun } from '../../../shared/data/sweeps/sweep-run.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { durationOf } from '../../../shared/jobs/shown-job.ts';
import { MetricRanker, metricsOf } from '../../../shared/metrics/metric-ranker.ts';
import { finite } from '../../../shared/sweeps/trials/collect-ends.ts';

/** A run of a sweep in the responses: one row for each repeat of a trial. */
export const TrialAnswer = z
  .object({
    trial: z.number().int().describe('Number of its values, from 0.'),
    repeat: z.number().int().describe('From 1.'),
    experiment_id: Ulid.describe('Experiment of its last try.'),
    params: TrialParams,
    status: JobStatus,
    status_reason: z.string().nullable(),
    outcome: RunOutcome.nullable().describe('Null while it runs.'),
    value: z.number().nullable().describe('Best value of the metric so far; null without a finite one.'),
    step: z.number().nullable().describe('Of the value.'),
    last: z.number().nullable().describe('Last value of the metric; null without a finite one.'),
    started_at: Timestamp.nullable(),
    duration: z.number().nullable().describe('Seconds.'),
    cost: z.number().nullable().describe('US dollars of its last try.'),
    tries: z.number().int().describe('Experiments of the run; more than one if it was tried again.'),
  })
  .meta({ id: 'Trial' });
export type Trial = z.input<typeof TrialAnswer>;

/** Build the rows of runs for a response. Those that run are read from their experiments. */
export async function trialRows(
  records: TableReader<'records'>,
  { project_id, criterion }: Sweep,
  runs: readonly SweepRun[],
  now: Date,
): Promise<Trial[]> {
  const open = runs.map(lastTry).filter(({ outcome }) => outcome === null);
  const pairs = open.map(({ experiment_id }) => ({ project_id, experiment_id }));
  const [items, tracked] = await Promise.all([
    records.batchGet(pairs.map(({ experiment_id }) => experimentKey(project_id, experiment_id))),
    readTrackingOfEach(records, pairs),
  ]);
  const running = new Map(
    items.flatMap((item) => (item === undefined ? [] : [[item.sk, parseExperiment(item)]])),
  );
  const ranker = new MetricRanker(criterion);
  return runs.map((run) => {
    const last = lastTry(run);
    const experiment = running.get(last.experiment_id);
    const { metrics } = tracked.of.get(last.experiment_id) ?? nothingTracked;
    const best = last.outcome === null ? ranker.best(metricsOf(metrics)) : null;
    const live = best && { ...best, last: String(metrics.get(best.metric)?.last) };
    return showTrial(run, last, experiment, live, now);
  });
}

function showTrial(
  { trial, repeat, params, tries }: SweepRun,
  last: RunTry,
  experiment: Experiment | undefined,
  best: { value: number; step: number | null; last: string } | null,
  now: Date,
): Trial {
  const { outcome, value, step, cost } = last;
  const timed = experiment ?? last;
  return {
    trial,
    repeat,
    experiment_id: last.experiment_id,
    params: JSON.parse(params),
    status: experiment?.status ?? statusOf(outcome),
    status_reason: experiment?.status_reason ?? last.status_reason,
    outcome,
    value: best?.value ?? finite(value),
    step: best?.step ?? step,
    last: finite(best?.last ?? last.last),
    started_at: timed.started_at,
    duration: durationOf(timed, now),
    cost,
    tries: tries.length,
  };
}

const statusOf = (outcome: RunOutcome | null): z.infer<typeof JobStatus> => {
  if (outcome === 'complete') return 'SUCCEEDED';
  return outcome === 'failed' ? 'FAILED' : 'CANCELLED';
};
