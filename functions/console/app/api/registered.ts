import { ProblemError } from '../../../../shared/client/problem-error.ts';
import type { Experiment } from './answers.ts';
import { sendJson } from './calls.ts';
import { experimentsById, maxById } from './projects.ts';
import { isWithheld, noteFailure } from './session.ts';

/** Name of MLflow's model registry. */
export interface Registered {
  name: string;
  owner_id: string;
  description: string;
  /** Milliseconds of the epoch. */
  last_updated_timestamp: number;
  aliases: readonly { alias: string; version: string }[];
  latest_versions: readonly { version: string }[];
}

/** Version of a registered name. */
export interface RegisteredVersion {
  version: string;
  creation_timestamp: number;
  user_id: string;
  /** MLflow's id of the run that made it. Empty for none. */
  run_id: string;
  source: string;
  aliases: readonly string[];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Ask MLflow's API of the service, as the signed-in user. @throws ProblemError with MLflow's message */
async function ask<T>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  values: Readonly<Record<string, string>>,
): Promise<T> {
  const search = method === 'GET' ? `?${new URLSearchParams(values)}` : '';
  const response = await sendJson(`mlflow/api/2.0/mlflow/${path}${search}`, {
    method,
    ...(method !== 'GET' && { body: JSON.stringify(values) }),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer as T;
  const detail = isObject(answer) ? { detail: answer['message'] } : {};
  const error = new ProblemError(response.status, detail, `HTTP status ${response.status}`);
  noteFailure(error);
  throw error;
}

/** Load the registered names, the latest changed ones first. At most 1,000. */
export const loadRegistered = async (): Promise<Registered[]> => {
  const { registered_models } = await ask<{ registered_models?: Registered[] }>(
    'GET',
    'registered-models/search',
    { max_results: '1000', order_by: 'last_updated_timestamp DESC' },
  );
  return registered_models ?? [];
};

export const loadName = async (name: string): Promise<Registered> =>
  (await ask<{ registered_model: Registered }>('GET', 'registered-models/get', { name })).registered_model;

/** Most versions that the page of a name loads. */
const maxVersions = 1_000;

/** Load the versions of a name, newest first. */
export async function loadVersions(name: string): Promise<RegisteredVersion[]> {
  const quote = name.includes("'") ? '"' : "'";
  const { model_versions } = await ask<{ model_versions?: RegisteredVersion[] }>(
    'GET',
    'model-versions/search',
    {
      filter: `name = ${quote}${name}${quote}`,
      max_results: String(maxVersions),
      order_by: 'version_number DESC',
    },
  );
  return model_versions ?? [];
}

/** Experiment of a run, from MLflow's id of it. */
export function experimentOf(run_id: string): { project_id: string; experiment_id: string } | undefined {
  const [, project_id, experiment_id] = /^([0-9a-z]{26})-([0-9a-z]{26})$/.exec(run_id) ?? [];
  return project_id === undefined || experiment_id === undefined ? undefined : { project_id, experiment_id };
}

/** Load experiments of a project. None if the project is deleted. */
const experimentsOf = (project_id: string, ids: readonly string[]): Promise<Experiment[]> =>
  experimentsById(project_id, ids).then(
    ({ rows }) => rows,
    (error: unknown) => {
      if (isWithheld(error)) return [];
      throw error;
    },
  );

/** Load the experiments that made versions, by id. Experiments that are not there any more are left out. */
export async function loadSources(
  versions: readonly RegisteredVersion[],
): Promise<ReadonlyMap<string, Experiment>> {
  const byProject = new Map<string, Set<string>>();
  for (const { run_id } of versions) {
    const found = experimentOf(run_id);
    if (found === undefined) continue;
    const ids = byProject.get(found.project_id) ?? new Set();
    byProject.set(found.project_id, ids.add(found.experiment_id));
  }
  const sources = new Map<string, Experiment>();
  for (const [project_id, ids] of byProject) {
    const all = [...ids];
    for (let from = 0; from < all.length; from += maxById)
      for (const experiment of await experimentsOf(project_id, all.slice(from, from + maxById)))
        sources.set(experiment.experiment_id, experiment);
  }
  return sources;
}

export const setAlias = (name: string, alias: string, version: string) =>
  ask<object>('POST', 'registered-models/alias', { name, alias, version });
export const deleteAlias = (name: string, alias: string) =>
  ask<object>('DELETE', 'registered-models/alias', { name, alias });
