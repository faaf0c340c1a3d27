import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { Best, type Experiment } from '../../shared/data/experiment.ts';
import { TrainingKind } from '../../shared/data/job.ts';
import type { Placed } from '../../shared/jobs/place-in-line.ts';
import { showJob, shownJob } from '../../shared/jobs/shown-job.ts';

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
    ...shownJob,
    gpus: z.number().int(),
    nodes: z.number().int(),
    best: Best.nullable(),
    artifacts: z.number().int(),
    artifact_bytes: z.number().int(),
  })
  .meta({ id: 'Experiment' });

/** An experiment to show at this moment. */
export const showExperiment = (experiment: Placed<Experiment>, now: Date): z.input<typeof ExperimentAnswer> =>
  showJob(experiment, now);
