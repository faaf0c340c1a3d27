import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { comparePoints } from '../metrics/metric-summary.ts';
import { projectPrefix } from '../projects/project.ts';
import { recordType } from '../table/record.ts';
import { TableNumber, tableNumber } from '../table/stored-number.ts';
import { type Key, type Page, readPage, type TableReader, type Write } from '../table/table.ts';

const loggedModel = recordType('logged-model', () =>
  z.object({
    model_id: Ulid,
    project_id: Ulid,
    name: z.string(),
    model_type: z.string(),
    status: LoggedModelStatus,
    /** Experiment that made the model; null if none did. */
    source_experiment_id: Ulid.nullable(),
    user_id: Ulid,
    /**
     * Folder of its files, below the artifacts of the experiment that made it. Absent if it has its own artifacts.
     */
    folder: z.string().optional(),
    params: z.record(z.string(), z.string()),
    tags: z.record(z.string(), z.string()),
    /** Newest value of each metric and data set. */
    metrics: z.array(ModelMetric),
    created_at: Timestamp,
    updated_at: Timestamp,
    /** Time at which a client marked it as deleted. Absent if it is not marked. */
    deleted_at: Timestamp.optional(),
    version: z.number().int(),
  }),
);

/** Model that an MLflow client logged in a project. This record describes it; its files are separate artifacts. */
export type LoggedModel = z.infer<typeof loggedModel.schema>;

export const LoggedModelStatus = z.enum(['PENDING', 'READY', 'FAILED']);

/** Metric value of a model, with the run and the data set that measured it. */
export const ModelMetric = z.object({
  name: z.string(),
  value: TableNumber,
  step: z.number().nullable(),
  time: z.iso.datetime({ precision: 3 }),
  /** MLflow's id of the run that measured it. */
  run_id: z.string(),
  dataset_name: z.string().optional(),
  dataset_digest: z.string().optional(),
});
export type ModelMetric = z.infer<typeof ModelMetric>;

/** Compare the step, then the time, then the value. Return a negative number if `one` comes before `other`. */
export const compareModelMetrics = (one: ModelMetric, other: ModelMetric): number =>
  comparePoints({ ...one, time: Date.parse(one.time) }, { ...other, time: Date.parse(other.time) });

export const parseLoggedModel = loggedModel.parse;

/** Return the partition of the files of all logged models of a project. */
export const loggedModelFilesPartition = (project_id: string): string => `LOGGED_MODEL_FILES#${project_id}`;
/** Return the prefix of the sort keys of a logged model's files. */
export const loggedModelFilesPrefix = (model_id: string): string => `${model_id}#`;
/** Return the partitions of all records of a project's logged models. */
export const loggedModelPartitions = (project_id: string): string[] => [
  loggedModelsPartition(project_id),
  loggedModelFilesPartition(project_id),
];

export const loggedModelsPartition = (project_id: string): string => `LOGGED_MODELS#${project_id}`;

export const loggedModelKey = (project_id: string, model_id: string): Key => ({
  pk: loggedModelsPartition(project_id),
  sk: model_id,
});
/** Key of a file of a logged model. */
export const loggedModelFileKey = (project_id: string, model_id: string, path: string): Key => ({
  pk: loggedModelFilesPartition(project_id),
  sk: `${loggedModelFilesPrefix(model_id)}${path}`,
});
/** Return the bucket prefix of all objects of a logged model. */
export const loggedModelPrefix = (project_id: string, model_id: string): string =>
  `${projectPrefix(project_id)}models/${model_id}/`;

export const findLoggedModel = (
  records: TableReader<'records'>,
  project_id: string,
  model_id: string,
): Promise<LoggedModel | undefined> => loggedModel.find(records, loggedModelKey(project_id, model_id));

/** Return a page of the logged models of a project, newest first. */
export async function listLoggedModels(
  records: TableReader<'records'>,
  project_id: string,
  page: { limit?: number; after?: string | undefined },
): Promise<Page<LoggedModel>> {
  return readPage(
    await records.query({ pk: loggedModelsPartition(project_id), descending: true, ...page }),
    loggedModel.parse,
  );
}

export function putLoggedModel(value: LoggedModel, previous: LoggedModel | undefined): Write {
  // The table cannot store every number. Store such numbers as text; the schema reads them as numbers.
  const metrics = value.metrics.map((metric) => ({ ...metric, value: tableNumber(metric.value) }));
  const key = loggedModelKey(value.project_id, value.model_id);
  return {
    put: { ...loggedModel.item(key, { ...value, metrics }), metrics },
    if: previous === undefined ? { exists: false } : { equals: { version: previous.version } },
  };
}

export const removeLoggedModel = ({ project_id, model_id, version }: LoggedModel): Write => ({
  delete: loggedModelKey(project_id, model_id),
  if: { equals: { version } },
});
