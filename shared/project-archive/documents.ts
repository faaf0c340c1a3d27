import * as z from 'zod';
import { FileId, Sha256, Timestamp } from '../core/formats.ts';
import { line } from '../core/text-rules.ts';
import { EnvironmentType } from '../data/environment.ts';
import { Best, ExperimentKind } from '../data/experiment.ts';
import { Attempt } from '../data/job.ts';
import { JobStatus } from '../data/job-status.ts';
import { LoggedModelStatus, ModelMetric } from '../data/logged-model.ts';
import { Criterion } from '../data/project.ts';
import { SizeLimits } from '../data/size-limits.ts';
import { DatasetInput, Git, ModelLink } from '../data/tracking.ts';

// The documents of an archive. An id of the service stands in none: experiments and models go by their numbers, users by
// their names.

const whole = z.number().int().min(0);
const number = z.number().int().min(1);
/** Beside these bounds, a document has one in bytes. References make a text twice as long at most. */
const long = z.string().max(700_000);
const texts = z.record(z.string().max(1000), long);
const format = z.enum(['tar.gz', 'tar', 'zip', 'file']);

const upload = { sha256: Sha256, format, updated_at: Timestamp, version: number };

/** `project.json`: the project itself. */
export const ProjectDocument = z.strictObject({
  // MLflow's clients may give a project any name, and need not describe it.
  project_name: z.string().min(1).max(1000),
  project_description: long,
  project_type: line(64),
  project_task: line(64),
  criterion: Criterion.strict().nullable(),
  tags: texts.nullable(),
  environment: z
    .strictObject({
      entry_point_command: z.string().max(4000),
      env_type: EnvironmentType,
      dependencies: z.string().max(4000),
      updated_at: Timestamp,
      version: number,
    })
    .nullable(),
  /** Those that are no secret. */
  variables: z.array(
    z.strictObject({
      name: z.string().max(256),
      value: z.string().max(100_000),
      created_at: Timestamp,
      updated_at: Timestamp,
      version: number,
    }),
  ),
  /** The current source. */
  source: z.strictObject(upload).nullable(),
  /** The current versions of the data sets. */
  datasets: z.array(z.strictObject({ name: FileId, ...upload })),
});
export type ProjectDocument = z.infer<typeof ProjectDocument>;

/** `configs/<config_id>/config.json`; each version that is kept is a file beside it. */
export const ConfigDocument = z.strictObject({
  format: z.enum(['yaml', 'json', 'toml']),
  created_at: Timestamp,
  updated_at: Timestamp,
  version: number,
  versions_before: whole,
});
export type ConfigDocument = z.infer<typeof ConfigDocument>;

/** What people and programs said of an experiment; its texts hold references. */
const Fields = z.strictObject({
  name: z.string().max(1000),
  note: long.nullable(),
  tags: texts,
  params: texts,
  git: Git.strict().nullable(),
  datasets: z.array(DatasetInput.strict()).optional(),
  models_read: z.array(ModelLink.strict()).optional(),
  models_made: z.array(ModelLink.strict()).optional(),
  updated_at: Timestamp,
});

/** `experiments/<number>/experiment.json`. */
export const ExperimentDocument = z.strictObject({
  kind: ExperimentKind,
  /** Name of the user whose it was; null where that user is gone. */
  user: z.string().max(64).nullable(),
  status: JobStatus,
  status_reason: z.string().max(20_000).nullable(),
  attempt: whole,
  attempts: z.array(Attempt.strict()).max(100),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  stopped_at: Timestamp.nullable(),
  cancel_requested_at: Timestamp.nullable(),
  exit_code: z.number().int().nullable(),
  signal: z.string().max(100).nullable(),
  vcpus: z.number(),
  memory: whole,
  gpus: whole,
  nodes: z.number().int().min(1).max(64),
  timeout: whole,
  limits: SizeLimits.strict().nullable(),
  begun_at: Timestamp.nullable(),
  config_id: FileId.nullable(),
  config_version: whole.nullable(),
  config_sha256: Sha256.nullable(),
  source_sha256: Sha256.nullable(),
  source_size: whole,
  dataset: FileId.nullable(),
  dataset_sha256: Sha256.nullable(),
  dataset_is_archive: z.boolean(),
  environment: z.strictObject({
    entry_point_command: z.string().max(4000),
    env_type: EnvironmentType,
    dependencies: z.string().max(4000),
    version: whole,
  }),
  lock_hash: z.string().max(200).nullable(),
  environment_cache: z.enum(['hit', 'miss', 'none']).nullable(),
  saved_seconds: z.number().nullable(),
  criterion: Criterion.extend({ own: z.boolean().optional() }).strict(),
  best: Best.strict().nullable(),
  metric_names: z.array(z.string().max(1000)).max(1000).optional(),
  /** Experiments, by their numbers. */
  rerun_of: number.nullable(),
  continues_from: number.nullable(),
  recorded_by: number.optional(),
  overrides: z
    .record(z.string().max(1000), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .nullable(),
  cost_estimate: z.number().nullable(),
  fields: Fields.nullable(),
});
export type ExperimentDocument = z.infer<typeof ExperimentDocument>;

/** `models/<number>/model.json`: a model that an MLflow client logged. Its texts hold references. */
export const ModelDocument = z.strictObject({
  name: z.string().max(1000),
  model_type: long,
  status: LoggedModelStatus,
  source_experiment: number.nullable(),
  folder: z.string().max(1000).optional(),
  params: texts,
  tags: texts,
  metrics: z.array(ModelMetric.strict()).max(10_000),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type ModelDocument = z.infer<typeof ModelDocument>;
