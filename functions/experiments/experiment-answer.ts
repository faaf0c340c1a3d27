import * as z from 'zod';
import { Best, type Experiment } from '../../shared/data/experiment.ts';
import { Attempt, TrainingKind } from '../../shared/data/job.ts';
import { JobStatus } from '../../shared/data/job-status.ts';
import { Timestamp, Ulid } from '../../shared/endpoint/parameters.ts';
import { actualCost } from '../../shared/jobs/cost.ts';

/** An experiment as every operation answers it. */
export const ExperimentAnswer = z
  .object({
    experiment_id: Ulid,
    project_id: Ulid,
    kind: TrainingKind,
    config_id: z.string(),
    config_version: z.number().int(),
    config_sha256: z.string(),
    source_sha256: z.string().nullable(),
    dataset: z.string().nullable(),
    dataset_sha256: z.string().nullable(),
    lock_hash: z.string().nullable(),
    environment_cache: z.enum(['hit', 'miss', 'none']).nullable(),
    saved_seconds: z.number().nullable(),
    status: JobStatus,
    status_reason: z.string().nullable(),
    attempt: z.number().int(),
    attempts: z.array(Attempt),
    exit_code: z.number().int().nullable(),
    signal: z.string().nullable(),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    stopped_at: Timestamp.nullable(),
    /** Seconds from start to stop, or to now. */
    duration: z.number().nullable(),
    vcpus: z.number(),
    memory: z.number().int(),
    gpus: z.number().int(),
    nodes: z.number().int(),
    timeout: z.number().int(),
    best: Best.nullable(),
    artifacts: z.number().int(),
    artifact_bytes: z.number().int(),
    /** US dollars for an attempt that takes all its time; null where compute has no price. */
    cost_estimate: z.number().nullable(),
    /** US dollars that it did cost, once it has ended. */
    cost: z.number().nullable(),
  })
  .meta({ id: 'Experiment' });

/** An experiment to show at this moment. */
export function showExperiment(experiment: Experiment, now: Date): z.input<typeof ExperimentAnswer> {
  const { started_at, stopped_at } = experiment;
  const end = stopped_at === null ? now.getTime() : Date.parse(stopped_at);
  const duration = started_at === null ? null : Math.max(0, end - Date.parse(started_at)) / 1000;
  return { ...experiment, duration, cost: actualCost(experiment) };
}
