import { type Experiment, findExperiment } from '../../data/experiments/experiment.ts';
import {
  type ExperimentFields,
  findFields,
  readTracking,
  type Tracking,
} from '../../data/experiments/tracking.ts';
import { defaultName } from '../../data/projects/default-name.ts';
import type { Project } from '../../data/projects/project.ts';
import { readAhead } from '../../data/table/table.ts';
import { readTexts } from '../../experiments/dataset-texts.ts';
import { type Access, type MlflowContext, requireAccess, requireReach } from '../protocol/context.ts';
import { type RunKey, runIdOf, runKeyOf } from '../protocol/ids.ts';
import { doesNotExist, mlflowError } from '../protocol/mlflow-error.ts';
import { text } from '../protocol/scalars.ts';
import { type RunSource, showRun } from './show-run.ts';

interface Run {
  project: Project;
  experiment: Experiment;
}

/**
 * Find the run with this id, and check that the caller has this access to its project.
 * @throws ServiceError `not-found` with MLflow's code, `forbidden`
 */
export async function requireRun(context: MlflowContext, run_id: string, access: Access): Promise<Run> {
  const key = runKeyOf(run_id);
  context.noteAudit({ subject: { experiment_id: key.experiment_id } });
  const [project, experiment] = await Promise.all([
    requireAccess(context, key.project_id, access),
    findExperiment(context.records, key.project_id, key.experiment_id),
  ]);
  if (experiment === undefined) throw doesNotExist(`Run with id=${run_id} not found`);
  requireReach(context, experiment);
  if (access !== 'viewer') context.job?.runs.use(experiment.experiment_id);
  return { project, experiment };
}

export function requireActive({ deleted_at }: Pick<ExperimentFields, 'deleted_at'>, key: RunKey): void {
  if (deleted_at === undefined) return;
  throw mlflowError(
    'INVALID_PARAMETER_VALUE',
    `The run ${runIdOf(key)} must be in the 'active' state. Current state is deleted.`,
  );
}

/** Find a run, and check that neither the run nor its project is marked as deleted. */
export async function requireActiveRun(context: MlflowContext, run_id: string): Promise<Run> {
  const { project_id, experiment_id } = runKeyOf(run_id);
  const readFields = readAhead(() => findFields(context.records, project_id, experiment_id));
  const run = await requireRun(context, run_id, 'developer');
  const fields = await readFields();
  requireActive({ deleted_at: fields?.deleted_at ?? run.project.deleted_at }, run.experiment);
  return run;
}

export const sourceOf = ({ experiment, project }: Run, { fields, metrics }: Tracking): RunSource => ({
  ...experiment,
  name: fields?.name ?? defaultName(experiment.config_id),
  note: fields?.note ?? null,
  tags: fields?.tags ?? {},
  params: fields?.params ?? {},
  isDeleted: (fields?.deleted_at ?? project.deleted_at) !== undefined,
  metrics,
});

/** Show a run with all its data to a caller who may read it. */
export async function answerRun(context: MlflowContext, run_id: string): Promise<object> {
  const { project_id, experiment_id } = runKeyOf(run_id);
  const read = readAhead(() => readTracking(context.records, project_id, experiment_id));
  const run = await requireRun(context, run_id, 'viewer');
  const tracking = await read();
  const { fields } = tracking;
  const datasets = await readTexts(context.objects, run.experiment, fields?.datasets ?? []);
  return showRun(sourceOf(run, tracking), fields && { ...fields, datasets });
}

/** Id of a run; clients before 2.0 also send it as `run_uuid`. */
export const runIdField = { run_id: text.min(1) };
