import { ProblemError } from '../../../../shared/client/problem-error.ts';
import type { AnswerOf, RequestOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as listConfigs } from '../../../projects/configs/list-configs.endpoint.ts';
import type { endpoint as putConfig } from '../../../projects/configs/put-config.endpoint.ts';
import type { endpoint as readConfig } from '../../../projects/configs/read-config.endpoint.ts';
import type { endpoint as readConfigGraph } from '../../../projects/configs/read-config-graph.endpoint.ts';
import type { endpoint as putEnvironment } from '../../../projects/environment/put-environment.endpoint.ts';
import type { endpoint as readEnvironment } from '../../../projects/environment/read-environment.endpoint.ts';
import type { endpoint as estimateTraining } from '../../../projects/training/estimate-training.endpoint.ts';
import type { endpoint as trainProject } from '../../../projects/training/train-project.endpoint.ts';
import type { endpoint as trainProjectRemote } from '../../../projects/training/train-project-remote.endpoint.ts';
import type { endpoint as listDatasets } from '../../../projects/uploads/list-datasets.endpoint.ts';
import type { endpoint as readSource } from '../../../projects/uploads/read-source.endpoint.ts';
import { all, call, open, text } from './calls.ts';

export type Config = RowOf<typeof listConfigs>;
export type Dataset = RowOf<typeof listDatasets>;
export type Environment = AnswerOf<typeof readEnvironment>;
export type EnvironmentQuery = RequestOf<typeof putEnvironment>['query'];
export type Estimate = AnswerOf<typeof estimateTraining>;

export const loadConfigs = (project_id: string): Promise<Config[]> =>
  all<typeof listConfigs>('GET /projects/{project_id}/configs', { path: { project_id } });

export interface ConfigFile {
  config_id: string;
  content: string;
  version: number;
  /** ETag that a replacement requires. */
  tag: string;
}

export async function loadConfigFile(project_id: string, config_id: string): Promise<ConfigFile> {
  const response = await open<typeof readConfig>('GET /projects/{project_id}/configs/{config_id}', {
    path: { project_id, config_id },
    headers: { Accept: 'application/json' },
  });
  const { content, version } = (await response.json()) as AnswerOf<typeof readConfig>;
  return { config_id, content, version, tag: response.headers.get('etag') ?? '*' };
}

/** Store a configuration. Without a `tag`, create a new one. @throws ProblemError 412 if it has changed since */
export const saveConfigFile = (
  project_id: string,
  config_id: string,
  content: string,
  tag: string | undefined,
): Promise<Config> =>
  call<typeof putConfig>('PUT /projects/{project_id}/configs/{config_id}', {
    path: { project_id, config_id },
    file: content,
    headers: tag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': tag },
  });

export const loadConfigGraph = (project_id: string, config_id: string): Promise<string> =>
  text<typeof readConfigGraph>('GET /projects/{project_id}/configs/{config_id}/graph', 'image/svg+xml', {
    path: { project_id, config_id },
  });

/** Return null for a 404. */
async function orNone<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return null;
    throw error;
  }
}

export const loadEnvironment = (project_id: string): Promise<Environment | null> =>
  orNone(call<typeof readEnvironment>('GET /projects/{project_id}/environment', { path: { project_id } }));
export const saveEnvironment = (project_id: string, query: EnvironmentQuery): Promise<Environment> =>
  call<typeof putEnvironment>('PUT /projects/{project_id}/environment', { path: { project_id }, query });

export const loadSource = (project_id: string): Promise<AnswerOf<typeof readSource> | null> =>
  orNone(call<typeof readSource>('GET /projects/{project_id}/source', { path: { project_id } }));

export const loadDatasets = (project_id: string): Promise<Dataset[]> =>
  all<typeof listDatasets>('GET /projects/{project_id}/datasets', { path: { project_id } });

export const estimate = (
  project_id: string,
  query: RequestOf<typeof estimateTraining>['query'],
): Promise<Estimate> =>
  call<typeof estimateTraining>('GET /projects/{project_id}/train/estimate', {
    path: { project_id },
    ...(query && { query }),
  });

export const train = (project_id: string, query: RequestOf<typeof trainProject>['query']) =>
  call<typeof trainProject>('POST /projects/{project_id}/train', { path: { project_id }, query });
export const trainRemote = (
  project_id: string,
  query: NonNullable<RequestOf<typeof trainProjectRemote>['query']>,
) =>
  call<typeof trainProjectRemote>('POST /projects/{project_id}/train-remote', {
    path: { project_id },
    query,
  });
