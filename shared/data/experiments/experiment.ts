import * as z from 'zod';
import { FileId, Sha256, Ulid } from '../../core/formats.ts';
import { notFound } from '../../core/service-error.ts';
import { jobFields, jobPartition, TrainingKind, type UnfinishedJob, unreadableJob } from '../jobs/job.ts';
import { finalRank, isFinal } from '../jobs/job-status.ts';
import { trackingPartition, trackingPrefix } from '../metrics/metric-summaries.ts';
import { EnvironmentType } from '../projects/environment.ts';
import { Criterion, projectPrefix } from '../projects/project.ts';
import type { PurgeTarget } from '../projects/purge.ts';
import type { Condition } from '../table/condition.ts';
import { recordType } from '../table/record.ts';
import {
  type Item,
  type Key,
  type Page,
  pageOf,
  readPage,
  type TableReader,
  type Write,
} from '../table/table.ts';

const experiment = recordType('experiment', () =>
  z.object({
    ...jobFields(),
    kind: ExperimentKind,
    /** Owner of the project, where it runs on a cluster; null on other compute, and in releases that counted none. */
    cluster_owner: Ulid.nullable().default(null),
    experiment_id: Ulid,
    project_id: Ulid,
    /** Null where a client records the experiment: it has no configuration. */
    config_id: FileId.nullable(),
    config_version: z.number().int().nullable(),
    config_sha256: Sha256.nullable(),
    source_sha256: Sha256.nullable(),
    source_size: z.number().int(),
    dataset: FileId.nullable(),
    dataset_sha256: Sha256.nullable(),
    /** Whether the data set is unpacked for the job. */
    dataset_is_archive: z.boolean(),
    /** The environment as it was when the experiment was made. */
    environment: z.object({
      entry_point_command: z.string(),
      env_type: EnvironmentType,
      dependencies: z.string(),
      version: z.number().int(),
    }),
    lock_hash: z.string().nullable(),
    environment_cache: z.enum(['hit', 'miss', 'none']).nullable(),
    /** Seconds of installation that the cache saved. */
    saved_seconds: z.number().nullable(),
    /**
     * By what a release ranked it that kept its best value with the record. Now it is ranked when it is read
     * (`criteria/metric-ranker.ts`), and new records have these so that such a release can read them.
     */
    criterion: Criterion.extend({ own: z.boolean().optional() }),
    /** Of such a release; null otherwise. It counts where the metrics were not summarized. */
    best: Best.nullable(),
    /** What its program did that it may not have meant, in sentences; absent where nothing was noted. */
    warnings: z.array(z.string()).optional(),
    artifacts: z.number().int(),
    artifact_bytes: z.number().int(),
    checkpoints: z.number().int(),
    checkpoint_bytes: z.number().int(),
    /** Experiment whose inputs it repeats. */
    rerun_of: Ulid.nullable().default(null),
    /** Values of its configuration that the request replaced; null where it runs with a version as it was stored. */
    overrides: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .nullable()
      .default(null),
    /** Experiment of whose checkpoints it starts; null where it starts afresh. */
    continues_from: Ulid.nullable().default(null),
    /** Experiments that ever started from its checkpoints, so that a delete notices one that begins meanwhile. */
    continuations: z.number().int().default(0),
    /** The training whose program recorded it; absent where none did. */
    recorded_by: Ulid.optional(),
    /** Name of the user whose it was where it was imported from, null where that one was gone; absent otherwise. */
    imported_user: z.string().nullable().optional(),
    /** US dollars, at most; null where the deployment has no price. */
    cost_estimate: z.number().nullable(),
  }),
);

export type Experiment = z.infer<typeof experiment.schema>;

/** What an experiment is: a training, or what a client records without a job. */
export const ExperimentKind = z.enum([...TrainingKind.options, 'logged']);

export const Best = z.object({
  criterion: z.string(),
  /** Name under which the value was reported; if absent, it is the name of the criterion. */
  metric: z.string().optional(),
  value: z.number(),
  step: z.number().nullable(),
});
export type Best = z.infer<typeof Best>;

/** What an experiment has, besides its job, before it has inputs and results. */
export const emptyExperiment = {
  cluster_owner: null,
  config_id: null,
  config_version: null,
  config_sha256: null,
  source_sha256: null,
  source_size: 0,
  dataset: null,
  dataset_sha256: null,
  dataset_is_archive: false,
  environment: { entry_point_command: '', env_type: 'system', dependencies: '', version: 0 },
  lock_hash: null,
  environment_cache: null,
  saved_seconds: null,
  criterion: { name: 'loss', goal: 'minimize' },
  best: null,
  artifacts: 0,
  artifact_bytes: 0,
  checkpoints: 0,
  checkpoint_bytes: 0,
  rerun_of: null,
  overrides: null,
  continues_from: null,
  continuations: 0,
  cost_estimate: null,
} satisfies Partial<Experiment>;

export const experimentsPartition = (project_id: string): string => `EXPERIMENTS#${project_id}`;
export const experimentKey = (project_id: string, experiment_id: string): Key => ({
  pk: experimentsPartition(project_id),
  sk: experiment_id,
});
export const parseExperiment = experiment.parse;

/** Everything an experiment keeps in the bucket lies under this prefix. */
export const experimentPrefix = (project_id: string, experiment_id: string): string =>
  `${projectPrefix(project_id)}experiments/${experiment_id}/`;

export async function findExperiment(
  records: Records,
  project_id: string,
  experiment_id: string,
): Promise<Experiment | undefined> {
  const item = await records.get(experimentKey(project_id, experiment_id));
  return item && experiment.parse(item);
}

type Records = TableReader<'records'>;

/** The experiment. @throws ServiceError `not-found` when there is none */
export async function requireExperiment(
  records: Records,
  project_id: string,
  experiment_id: string,
): Promise<Experiment> {
  const found = await findExperiment(records, project_id, experiment_id);
  if (found === undefined) throw notFound('experiment', experiment_id);
  return found;
}

/**
 * The experiment of a stored item, as far as it can be read: for its removal. One that cannot counts as ended, because
 * only the version that wrote it can end its job.
 */
export const salvageExperiment = (item: Item): Experiment => ({
  ...experiment.salvage(item, {
    ...unreadableJob(),
    ...emptyExperiment,
    kind: 'train',
    experiment_id: item.sk,
    project_id: item.pk.slice(experimentsPartition('').length),
    criterion: { name: '', goal: 'maximize' },
  }),
  ...(isUnreadable(item) && { status: 'FAILED' as const, status_rank: finalRank }),
});

const isUnreadable = (item: Item): boolean =>
  readPage(pageOf(item), experiment.parse).unreadable !== undefined;

/**
 * The experiment, for its removal, and what must hold of it then: it has ended, or cannot be read, so that nothing else
 * will ever end it.
 *
 * @throws ServiceError `not-found` when there is none
 */
export async function requireExperimentToRemove(
  records: Records,
  project_id: string,
  experiment_id: string,
): Promise<{ experiment: Experiment; hasEnded: boolean; removable: Condition }> {
  const item = await records.get(experimentKey(project_id, experiment_id));
  if (item === undefined) throw notFound('experiment', experiment_id);
  const found = salvageExperiment(item);
  if (isUnreadable(item)) return { experiment: found, hasEnded: true, removable: { exists: true } };
  const { continuations } = found;
  const uncontinued =
    continuations === 0 ? { any: [{ absent: ['continuations'] }, { equals: { continuations } }] } : {};
  const removable = {
    equals: { status_rank: finalRank, ...(continuations > 0 && { continuations }) },
    ...uncontinued,
  };
  return { experiment: found, hasEnded: isFinal(found.status), removable };
}

/** A page of the stored experiments of a project, also of those that cannot be read. */
export const listStoredExperiments = (
  records: Records,
  project_id: string,
  page: { limit?: number; after?: string | undefined },
): Promise<Page<Item>> => records.query({ pk: experimentsPartition(project_id), descending: true, ...page });

/** Experiments of a project, newest first. */
export async function listExperiments(
  records: Records,
  project_id: string,
  page: { limit?: number; after?: string | undefined },
): Promise<Page<Experiment>> {
  return readPage(await listStoredExperiments(records, project_id, page), experiment.parse);
}

export const putExperiment = (value: Experiment): Write => ({
  put: experiment.item(experimentKey(value.project_id, value.experiment_id), value),
  if: { exists: false },
});

/** A write that succeeds only while the experiment exists: part of every transaction that adds to what is tracked of it. */
export const experimentExists = (project_id: string, experiment_id: string): Write => ({
  check: experimentKey(project_id, experiment_id),
  if: { exists: true },
});

/** The write that gives an experiment its next version, also one that has ended; refused where it has one already. */
export const touchExperiment = (
  { project_id, experiment_id, version }: Experiment,
  set: Partial<Experiment> = {},
): Write => ({
  update: experimentKey(project_id, experiment_id),
  change: { set, add: { version: 1 } },
  if: { equals: { version } },
});

/** The experiment as an unfinished job. */
export const experimentJob = (value: Experiment): UnfinishedJob => ({
  job_id: value.experiment_id,
  kind: value.kind,
  subject: experimentKey(value.project_id, value.experiment_id),
  project_id: value.project_id,
  user_id: value.user_id,
  vcpus: value.vcpus * value.nodes,
  limit_share: value.limit_share,
  cluster_owner: value.cluster_owner,
});

/** The write that removes the record of an experiment that is `removable`: has ended, unless it says otherwise. */
export const removeExperiment = (
  { project_id, experiment_id }: Experiment,
  removable: Condition = { equals: { status_rank: finalRank } },
): Write => ({
  delete: experimentKey(project_id, experiment_id),
  if: removable,
});

/** What remains to be removed once an experiment's record is deleted. */
export const experimentRemains = (project_id: string, experiment_id: string): PurgeTarget => ({
  partitions: [
    { pk: jobPartition(experiment_id) },
    { pk: trackingPartition(project_id), prefix: trackingPrefix(experiment_id) },
  ],
  prefixes: [experimentPrefix(project_id, experiment_id)],
});
