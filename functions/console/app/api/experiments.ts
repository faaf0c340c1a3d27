import type { AnswerOf, RequestOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as downloadArtifact } from '../../../experiments/artifacts/download-artifact.endpoint.ts';
import type { endpoint as listArtifacts } from '../../../experiments/artifacts/list-artifacts.endpoint.ts';
import type { endpoint as cancelExperiment } from '../../../experiments/records/cancel-experiment.endpoint.ts';
import type { endpoint as readExperiment } from '../../../experiments/records/read-experiment.endpoint.ts';
import type { endpoint as updateExperiment } from '../../../experiments/records/update-experiment.endpoint.ts';
import type { endpoint as readExperimentConfig } from '../../../projects/configs/read-experiment-config.endpoint.ts';
import type { endpoint as readGraph } from '../../../projects/configs/read-experiment-config-graph.endpoint.ts';
import type { endpoint as rerunExperiment } from '../../../projects/training/rerun-experiment.endpoint.ts';
import type { Experiment } from './answers.ts';
import { all, call, open, text } from './calls.ts';

export interface ExperimentPath {
  project_id: string;
  experiment_id: string;
}
export type Artifact = RowOf<typeof listArtifacts>;
export type ExperimentConfig = AnswerOf<typeof readExperimentConfig>;

const route = 'GET /projects/{project_id}/experiments/{experiment_id}';

export const loadExperiment = (path: ExperimentPath): Promise<Experiment> =>
  call<typeof readExperiment>(route, { path });

/** Load an experiment with its ETag, which a change requires. */
export async function loadForChange(path: ExperimentPath): Promise<{ experiment: Experiment; tag: string }> {
  const response = await open<typeof readExperiment>(route, {
    path,
    headers: { Accept: 'application/json' },
  });
  const experiment = (await response.json()) as Experiment;
  return { experiment, tag: response.headers.get('etag') ?? '*' };
}

export type ExperimentChange = NonNullable<RequestOf<typeof updateExperiment>['body']>;

/** Change an experiment, unless it has changed since it was loaded. @throws ProblemError 412 */
export const changeExperiment = (
  path: ExperimentPath,
  body: ExperimentChange,
  tag: string,
): Promise<Experiment> =>
  call<typeof updateExperiment>('PATCH /projects/{project_id}/experiments/{experiment_id}', {
    path,
    body,
    headers: { 'If-Match': tag },
  });

export const cancel = (path: ExperimentPath) =>
  call<typeof cancelExperiment>('POST /projects/{project_id}/experiments/{experiment_id}/cancel', { path });

export type RerunQuery = NonNullable<RequestOf<typeof rerunExperiment>['query']>;
export const rerun = (path: ExperimentPath, query: RerunQuery) =>
  call<typeof rerunExperiment>('POST /projects/{project_id}/experiments/{experiment_id}/rerun', {
    path,
    query,
  });

/** Files of OUTPUT_DIR, or the checkpoints of CHECKPOINT_DIR. */
export type FileKind = 'artifact' | 'checkpoint';

export const loadArtifacts = (path: ExperimentPath, kind: FileKind = 'artifact'): Promise<Artifact[]> =>
  all<typeof listArtifacts>('GET /projects/{project_id}/experiments/{experiment_id}/artifacts', {
    path,
    query: { kind },
  });

/**
 * Open a file of an experiment, or its first bytes. The response's URL is presigned and expires after minutes.
 * `inline` makes a browser show a PDF there.
 */
export const openArtifact = (
  path: ExperimentPath,
  file: string,
  most?: number,
  { kind = 'artifact', disposition }: { kind?: FileKind; disposition?: 'inline' } = {},
): Promise<Response> =>
  open<typeof downloadArtifact>('GET /projects/{project_id}/experiments/{experiment_id}/artifacts/{path+}', {
    path: { project_id: path.project_id, experiment_id: path.experiment_id, path: file },
    query: { kind, ...(disposition !== undefined && { disposition }) },
    ...(most !== undefined && { headers: { Range: `bytes=0-${most - 1}` } }),
  });

/** Read a file of an experiment, or its first bytes. */
export const readArtifact = async (path: ExperimentPath, file: string, most?: number): Promise<ArrayBuffer> =>
  (await openArtifact(path, file, most)).arrayBuffer();

export const loadConfig = (path: ExperimentPath): Promise<ExperimentConfig> =>
  call<typeof readExperimentConfig>('GET /projects/{project_id}/experiments/{experiment_id}/config', {
    path,
  });

export const loadGraph = (path: ExperimentPath): Promise<string> =>
  text<typeof readGraph>(
    'GET /projects/{project_id}/experiments/{experiment_id}/config/graph',
    'image/svg+xml',
    { path },
  );
