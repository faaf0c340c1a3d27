import { Ulid } from '../../core/formats.ts';
import { mlflowError } from './mlflow-error.ts';

/** An experiment of ours, by the ids that find it. */
export interface RunKey {
  project_id: string;
  experiment_id: string;
}

/** MLflow's id of a run names the project, too: so a run is found by one read, and no index has to be kept. */
export const runIdOf = ({ project_id, experiment_id }: RunKey): string => `${project_id}-${experiment_id}`;

export function findRunKey(run_id: string): RunKey | undefined {
  const [project_id, experiment_id, ...others] = run_id.split('-');
  const isRun = Ulid.safeParse(project_id).success && Ulid.safeParse(experiment_id).success;
  if (!isRun || project_id === undefined || experiment_id === undefined || others.length > 0)
    return undefined;
  return { project_id, experiment_id };
}

/** @throws ServiceError `RESOURCE_DOES_NOT_EXIST` */
export function runKeyOf(run_id: string): RunKey {
  const key = findRunKey(run_id);
  if (key === undefined) throw mlflowError('RESOURCE_DOES_NOT_EXIST', `Run with id=${run_id} not found`);
  return key;
}

/** Where the artifacts of a run are, to clients: below the tracking server's own address. */
export const artifactRootOf = (project_id: string): string => `mlflow-artifacts:/${project_id}`;
export const artifactUriOf = (key: RunKey): string =>
  `${artifactRootOf(key.project_id)}/${runIdOf(key)}/artifacts`;

/** A logged model, by the ids that find it. */
export interface ModelKey {
  project_id: string;
  model_id: string;
}

/** MLflow's id of a logged model, which begins as clients expect it. */
export const modelIdOf = ({ project_id, model_id }: ModelKey): string => `m-${project_id}-${model_id}`;

export function findModelKey(id: string): ModelKey | undefined {
  const key = id.startsWith('m-') ? findRunKey(id.slice(2)) : undefined;
  return key && { project_id: key.project_id, model_id: key.experiment_id };
}

/** The URI that clients see for the artifacts of a logged model. */
export const modelUriOf = (key: ModelKey): string =>
  `${artifactRootOf(key.project_id)}/models/${modelIdOf(key)}/artifacts`;
