import * as z from 'zod';
import { FileId, Sha256, Ulid } from '../../core/formats.ts';
import { notFound } from '../../core/service-error.ts';
import { foundSources } from '../../metrics/found-source.ts';
import { RecordedRule } from '../../run-rules/recorded-rule.ts';
import { jobFields, jobPartition, TrainingKind, type UnfinishedJob, unreadableJob } from '../jobs/job.ts';
import { finalRank, isFinal } from '../jobs/job-status.ts';
import { inputFields } from '../jobs/kept-inputs.ts';
import { trackingPartition, trackingPrefix } from '../metrics/metric-summaries.ts';
import { Criterion, projectPrefix } from '../projects/project.ts';
import type { PurgeTarget } from '../projects/purge.ts';
import type { RunOutcome } from '../sweeps/sweep-run.ts';
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
import { ModelExport } from './model-export.ts';
import { SystemUse } from './system-use.ts';

const experiment = recordType('experiment', () =>
  z.object({
    ...jobFields(),
    kind: ExperimentKind,
    /**
     * Owner of the project if it runs on a cluster. Null on other compute, and in records of releases that did not
     * count clusters.
     */
    cluster_owner: Ulid.nullable().default(null),
    experiment_id: Ulid,
    project_id: Ulid,
    /** Null if a client records the experiment, which then has no configuration. */
    config_id: FileId.nullable(),
    config_version: z.number().int().nullable(),
    config_sha256: Sha256.nullable(),
    ...inputFields(),
    lock_hash: z.string().nullable(),
    environment_cache: z.enum(['hit', 'miss', 'none']).nullable(),
    /** Seconds of installation that the cache saved. */
    saved_seconds: z.number().nullable(),
    /**
     * Criterion of earlier releases, which stored the best value in the record. Current releases rank at read time
     * (`metrics/metric-ranker.ts`). New records keep these fields so that earlier releases can read them.
     */
    criterion: Criterion.extend({ own: z.boolean().optional() }),
    /** Best value of such a release. Null otherwise. It is used if the metrics have no summary. */
    best: Best.nullable(),
    /** Warnings about likely mistakes of its program, as sentences. Absent if there are none. */
    warnings: z.array(z.string()).optional(),
    /** Where its metrics were found: the log or files of frameworks. Absent if the program reported them. */
    metrics_source: z.enum(foundSources).optional(),
    /** What its command used. Absent if it was too short to tell, and while it runs. */
    system: SystemUse.optional(),
    artifacts: z.number().int(),
    artifact_bytes: z.number().int(),
    checkpoints: z.number().int(),
    checkpoint_bytes: z.number().int(),
    /** Experiment whose inputs it reuses. */
    rerun_of: Ulid.nullable().default(null),
    /** Configuration values that the request replaced. Null if it uses the stored version unchanged. */
    overrides: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .nullable()
      .default(null),
    /** Experiment whose checkpoints it starts from. Null if it starts without checkpoints. */
    continues_from: Ulid.nullable().default(null),
    /**
     * Number of experiments that ever started from its checkpoints. With it, a delete detects one that begins at
     * the same time.
     */
    continuations: z.number().int().default(0),
    /** Number of reports that name it, which keep it from being deleted. Absent if none ever did. */
    reports: z.number().int().optional(),
    /** Its place in a sweep. Absent if no sweep began it. */
    sweep: SweepPlace.optional(),
    /** Schedule that began it. Absent if none did. */
    schedule_id: Ulid.optional(),
    /** Rules under which it runs. Absent if there are none. */
    rules: z.array(RecordedRule).optional(),
    /** Progress of the rules of a run that a client records, as JSON. Absent before its first points. */
    rule_progress: z.string().optional(),
    /** Whether a rule, its own or that of its sweep, ended it early. Absent if not. */
    stopped_early: z.boolean().optional(),
    /** What it exports, and what follows. Absent if it is no export of a model. */
    model_export: ModelExport.optional(),
    /** Training whose program recorded it. Absent if no training did. */
    recorded_by: Ulid.optional(),
    /**
     * Name of its user in the deployment that it was imported from. Null if that user was gone. Absent if it was
     * not imported.
     */
    imported_user: z.string().nullable().optional(),
    /** Maximum cost in US dollars. Null if the deployment has no price. */
    cost_estimate: z.number().nullable(),
  }),
);

export type Experiment = z.infer<typeof experiment.schema>;

/** Place of an experiment in a sweep. */
export const SweepPlace = z.object({
  sweep_id: Ulid,
  /** Number of its run in the sweep. */
  run: z.number().int(),
  trial: z.number().int(),
  repeat: z.number().int(),
  /** Value of the variable SEED. Null if the repeats of the sweep differ in a value of the configuration. */
  seed: z.number().int().nullable(),
});

/** Kind of an experiment: a training, or `logged` if a client records it without a job. */
export const ExperimentKind = z.enum([...TrainingKind.options, 'logged']);

export const Best = z.object({
  criterion: z.string(),
  /** Reported name of the metric. Default: the name of the criterion. */
  metric: z.string().optional(),
  value: z.number(),
  step: z.number().nullable(),
});
export type Best = z.infer<typeof Best>;

/** Return how a run of a sweep ended. Null while it runs, and for an experiment of no sweep. */
export function outcomeOf({
  sweep,
  status,
  stopped_early = false,
}: Pick<Experiment, 'sweep' | 'status' | 'stopped_early'>): RunOutcome | null {
  if (sweep === undefined || !isFinal(status)) return null;
  if (status === 'SUCCEEDED') return 'complete';
  if (status === 'FAILED') return 'failed';
  return stopped_early ? 'stopped early' : 'cancelled';
}

/** Default fields of an experiment without inputs and results. Job fields are separate. */
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

/** Return the bucket prefix of all objects of an experiment. */
export const experimentPrefix = (project_id: string, experiment_id: string): string =>
  `${projectPrefix(project_id)}experiments/${experiment_id}/`;

export const findExperiment = (
  records: Records,
  project_id: string,
  experiment_id: string,
): Promise<Experiment | undefined> => experiment.find(records, experimentKey(project_id, experiment_id));

type Records = TableReader<'records'>;

/** Return the existing experiments of these ids, in the order of the ids. At most 100. */
export async function findExperiments(
  records: Records,
  project_id: string,
  ids: readonly string[],
): Promise<Experiment[]> {
  const items = await records.batchGet(ids.map((id) => experimentKey(project_id, id)));
  return items.flatMap((item) => (item === undefined ? [] : [experiment.parse(item)]));
}

/** Return the experiment. @throws ServiceError `not-found` if it does not exist */
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
 * Return the readable part of a stored experiment, for its removal. An unreadable experiment counts as ended,
 * because only the version that wrote it can end its job.
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
 * Return the experiment for its removal, and the condition of the delete: it has ended, or it is unreadable and
 * nothing else will ever end it.
 *
 * @throws ServiceError `not-found` if it does not exist
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
  const { continuations, reports } = found;
  const uncontinued =
    continuations === 0 ? { any: [{ absent: ['continuations'] }, { equals: { continuations } }] } : {};
  const removable = {
    equals: {
      status_rank: finalRank,
      ...(continuations > 0 && { continuations }),
      ...(reports !== undefined && { reports }),
    },
    ...(reports === undefined && { absent: ['reports'] }),
    ...uncontinued,
  };
  return { experiment: found, hasEnded: isFinal(found.status), removable };
}

/** Return a page of the stored experiments of a project, including unreadable ones. */
export const listStoredExperiments = (
  records: Records,
  project_id: string,
  page: { limit?: number; after?: string | undefined },
): Promise<Page<Item>> => records.query({ pk: experimentsPartition(project_id), descending: true, ...page });

/** Return a page of the experiments of a project, newest first. */
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

/**
 * Build the write that succeeds only while the experiment exists. Every transaction that adds tracking data
 * includes it.
 */
export const experimentExists = (project_id: string, experiment_id: string): Write => ({
  check: experimentKey(project_id, experiment_id),
  if: { exists: true },
});

/**
 * Build the write that raises the version of an experiment, even an ended one. It fails if the version has
 * changed.
 */
export const touchExperiment = (
  { project_id, experiment_id, version }: Experiment,
  set: Partial<Experiment> = {},
): Write => ({
  update: experimentKey(project_id, experiment_id),
  change: { set, add: { version: 1 } },
  if: { equals: { version } },
});

/** Return the row of an experiment in the list of unfinished jobs. */
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

/**
 * Build the write that deletes the record of an experiment if `removable` holds. By default it must have ended.
 */
export const removeExperiment = (
  { project_id, experiment_id }: Experiment,
  removable: Condition = { equals: { status_rank: finalRank } },
): Write => ({
  delete: experimentKey(project_id, experiment_id),
  if: removable,
});

/** Return the data to purge after the delete of an experiment's record. */
export const experimentRemains = (project_id: string, experiment_id: string): PurgeTarget => ({
  partitions: [
    { pk: jobPartition(experiment_id) },
    { pk: trackingPartition(project_id), prefix: trackingPrefix(experiment_id) },
  ],
  prefixes: [experimentPrefix(project_id, experiment_id)],
});
