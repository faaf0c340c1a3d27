import type { ArtifactHome } from '../../data/experiments/client-artifact.ts';
import {
  compareModelMetrics,
  findLoggedModel,
  type LoggedModel,
  type ModelMetric,
  putLoggedModel,
} from '../../data/experiments/logged-model.ts';
import { faultOfModel } from '../../data/experiments/logged-model-rules.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { Write } from '../../data/table/table.ts';
import { type Access, type MlflowContext, outsideJob, requireAccess } from '../protocol/context.ts';
import {
  artifactUriOf,
  findModelKey,
  type ModelKey,
  modelIdOf,
  modelUriOf,
  runIdOf,
} from '../protocol/ids.ts';
import { doesNotExist, mlflowError } from '../protocol/mlflow-error.ts';
import { pairsOf, shownDouble, shownStep } from '../protocol/scalars.ts';
import { requireRun } from '../runs/find-run.ts';

const notFound = (id: string) => doesNotExist(`Logged model with ID '${id}' not found.`);

/**
 * Find the logged model with this id, and check that the caller has this access to its project.
 * @throws ServiceError `RESOURCE_DOES_NOT_EXIST`, also for a model marked as deleted; `forbidden`
 */
export async function requireModel(
  context: MlflowContext,
  id: string,
  access: Access,
  allowDeleted = false,
): Promise<LoggedModel> {
  const key = findModelKey(id);
  if (key === undefined) throw notFound(id);
  const [, model] = await Promise.all([
    requireAccess(context, key.project_id, access),
    findLoggedModel(context.records, key.project_id, key.model_id),
  ]);
  const maker = model?.source_experiment_id ?? undefined;
  if (context.job !== undefined && model !== undefined) {
    if (maker === undefined) throw outsideJob();
    await requireRun(context, runIdOf({ project_id: model.project_id, experiment_id: maker }), access);
  }
  if (model === undefined || (model.deleted_at !== undefined && !allowDeleted)) throw notFound(id);
  return model;
}

/**
 * Apply a change to a logged model. Return the new model and its write.
 * @throws ServiceError `INVALID_PARAMETER_VALUE`
 */
export function changedModel(
  present: LoggedModel,
  change: Partial<LoggedModel>,
  now: Date,
): { model: LoggedModel; write: Write } {
  const model = { ...present, ...change, updated_at: now.toISOString(), version: present.version + 1 };
  requireModelRoom(model);
  return { model, write: putLoggedModel(model, present) };
}

/** Change a logged model. Retry if another request changes it at the same time. */
export function changeModel(
  { records, now }: Pick<MlflowContext, 'records' | 'now'>,
  { project_id, model_id }: ModelKey,
  change: (model: LoggedModel) => Partial<LoggedModel>,
): Promise<LoggedModel> {
  return retryOnConflict(async () => {
    const present = await findLoggedModel(records, project_id, model_id);
    if (present === undefined) throw notFound(modelIdOf({ project_id, model_id }));
    const { model, write } = changedModel(present, change(present), now());
    await records.write(write);
    return model;
  });
}

/** Check that the model fits into its item. @throws ServiceError `INVALID_PARAMETER_VALUE` */
export function requireModelRoom(model: LoggedModel): void {
  const fault = faultOfModel(model);
  if (fault !== undefined) throw mlflowError('INVALID_PARAMETER_VALUE', fault);
}

/** Return the location of a logged model's files. */
export function modelHome({
  project_id,
  model_id,
  source_experiment_id: experiment_id,
  folder,
}: LoggedModel): { home: ArtifactHome; path: string } {
  return folder === undefined || experiment_id === null
    ? { home: { of: 'model', project_id, model_id }, path: '' }
    : { home: { of: 'experiment', project_id, experiment_id }, path: folder };
}

/** Return the MLflow URI of a logged model's files. */
export function modelFilesUri(model: LoggedModel): string {
  const { home, path } = modelHome(model);
  return home.of === 'model' ? modelUriOf(home) : `${artifactUriOf(home)}/${path}`;
}

const statuses = {
  PENDING: 'LOGGED_MODEL_PENDING',
  READY: 'LOGGED_MODEL_READY',
  FAILED: 'LOGGED_MODEL_UPLOAD_FAILED',
} as const;

/** Show a logged model in MLflow's format. */
export function showModel(model: LoggedModel): object {
  const { project_id, source_experiment_id } = model;
  const run_id = (experiment_id: string): string => runIdOf({ project_id, experiment_id });
  return {
    info: {
      model_id: modelIdOf(model),
      experiment_id: project_id,
      name: model.name,
      creation_timestamp_ms: Date.parse(model.created_at),
      last_updated_timestamp_ms: Date.parse(model.updated_at),
      artifact_uri: modelFilesUri(model),
      status: statuses[model.status],
      model_type: model.model_type,
      ...(source_experiment_id !== null && { source_run_id: run_id(source_experiment_id) }),
      tags: pairsOf(model.tags),
    },
    data: {
      params: pairsOf(model.params),
      metrics: model.metrics.map(({ name, value, step, time, ...measured }) => ({
        key: name,
        value: shownDouble(value),
        step: shownStep(step),
        timestamp: Date.parse(time),
        model_id: modelIdOf(model),

        ...measured,
      })),
    },
  };
}

/** A metric of a model. */
interface Measured {
  /** MLflow's id of the model. */
  model_id: string;
  metric: ModelMetric;
}

const identity = ({ name, dataset_name, dataset_digest, run_id }: ModelMetric): string =>
  JSON.stringify([name, dataset_name, dataset_digest, run_id]);

/** Keep the greatest point for each metric, run and data set, by step, time and value. */
function newest(metrics: readonly ModelMetric[]): ModelMetric[] {
  const found = new Map<string, ModelMetric>();
  for (const metric of metrics) {
    const present = found.get(identity(metric));
    if (present === undefined || compareModelMetrics(metric, present) > 0)
      found.set(identity(metric), metric);
  }
  return [...found.values()];
}

/**
 * Prepare to record metrics in their models. Return a function that records them.
 * @throws ServiceError if a model does not exist, before anything is recorded
 */
export async function noteModelMetrics(
  context: MlflowContext,
  measured: readonly Measured[],
): Promise<() => Promise<void>> {
  const byModel = Map.groupBy(measured, ({ model_id }) => model_id);
  const models: [LoggedModel, readonly Measured[]][] = [];
  for (const [id, some] of byModel) models.push([await requireModel(context, id, 'developer'), some]);
  return async () => {
    for (const [model, some] of models) {
      await changeModel(context, model, ({ metrics }) => ({
        metrics: newest([...metrics, ...some.map(({ metric }) => metric)]),
      }));
    }
  };
}
