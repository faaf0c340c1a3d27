import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { Best, type Experiment } from '../../shared/data/experiment.ts';
import { TrainingKind } from '../../shared/data/job.ts';
import { Git, type Tracking } from '../../shared/data/tracking.ts';
import type { Placed } from '../../shared/jobs/place-in-line.ts';
import { showJob, shownJob } from '../../shared/jobs/shown-job.ts';
import { defaultName } from './default-name.ts';

/** An experiment as every operation returns it. */
export const ExperimentAnswer = z
  .object({
    experiment_id: Ulid,
    project_id: Ulid,
    kind: TrainingKind,
    name: z.string(),
    note: z.string().nullable().describe('Markdown.'),
    tags: z.record(z.string(), z.string()),
    params: z
      .record(z.string(), z.string())
      .describe('For trainings the scalars of the configuration, such as `optimizer.lr`.'),
    git: Git.nullable(),
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

/** An experiment to show at this moment, with what is tracked of it. */
export const showExperiment = (
  experiment: Placed<Experiment>,
  now: Date,
  { fields }: Tracking,
): z.input<typeof ExperimentAnswer> => ({
  ...showJob(experiment, now),
  name: fields?.name ?? defaultName(experiment.config_id),
  note: fields?.note ?? null,
  tags: fields?.tags ?? {},
  params: fields?.params ?? {},
  git: fields?.git ?? null,
});
