import { Ulid } from '../../core/formats.ts';
import { mlflowError } from './mlflow-error.ts';

/** Ids that find an experiment of this service. */
export interface RunKey {
  project_id: string;
  experiment_id: string;
}

/** MLflow's run id contains the project id, so one read finds a run without an index. */
export const runIdOf = ({ project_id, experiment_id }: RunKey): string => `${project_id}-${experiment_id}`;

export function findRunKey(run_id: string): RunKey | undefined {
  const [project_id, experiment_id, ...others] = run_id.split('-');
  const isRun = Ulid.safeParse(project_id).success && Ulid.safeParse(experiment_id).success;
  if (!isRun || project_id === undefined || experiment_id === undefined || others.length > 0)
    return undefined;
  return { project_id, experiment_id };
}

/** Parse a run id. @throws ServiceError `RESOURCE_DOES_NOT_EXIST` */
export function runKeyOf(run_id: string): RunKey {
  const key = findRunKey(run_id);
  if (key === undefined) throw mlflowError('RESOURCE_DOES_NOT_EXIST', `Run with id=${run_id} not found`);
  return key;
}

/** Artifact URI of runs, as clients see it. Clients resolve it against the tracking server's address. */
export const artifactRootOf = (project_id: string): string => `mlflow-artifacts:/${project_id}`;
export const artifactUriOf = (key: RunKey): string =>
  `${artifactRootOf(key.project_id)}/${runIdOf(key)}/artifacts`;

/** Ids that find a logged model. */
export interface ModelKey {
  project_id: string;
  model_id: string;
}

/** MLflow's id of a logged model. Clients expect the prefix `m-`. */
export const modelIdOf = ({ project_id, model_id }: ModelKey): string => `m-${project_id}-${model_id}`;

export function findModelKey(id: string): ModelKey | undefined {
  const key = id.startsWith('m-') ? findRunKey(id.slice(2)) : undefined;
  return key && { project_id: key.project_id, model_id: key.experiment_id };
}

/** The URI that clients see for the artifacts of a logged model. */
export const modelUriOf = (key: ModelKey): string =>
  `${artifactRootOf(key.project_id)}/models/${modelIdOf(key)}/artifacts`;
