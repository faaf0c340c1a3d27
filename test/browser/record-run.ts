import type { endpoint as logMetrics } from '../../functions/experiments/metrics/log-metrics.endpoint.ts';
import type { endpoint as createExperiment } from '../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as updateExperiment } from '../../functions/experiments/records/update-experiment.endpoint.ts';
import type { endpoint as createProject } from '../../functions/projects/projects/create-project.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';

type Value = number | 'NaN' | 'Infinity' | '-Infinity';

/** What a run is to have reported. */
export interface Recorded {
  name: string;
  params?: Readonly<Record<string, string>>;
  tags?: Readonly<Record<string, string>>;
  /** Values of each metric by its name, at the steps 0, 1, 2 and so on. */
  metrics?: Readonly<Record<string, readonly Value[]>>;
  /** Undefined for a run that goes on. */
  status?: 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | undefined;
}

/** Make a project that is judged by what its task is judged by. */
export async function newProject(client: Client, name: string, task = 'classification'): Promise<string> {
  const { project_id } = await client.call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': name,
      'project-description': 'As it was.',
      'project-type': 'supervised',
      'project-task': task,
    },
  });
  return project_id;
}

/** Record a run as a client would that trains elsewhere. */
export async function recordRun(
  client: Client,
  project_id: string,
  { name, params = {}, tags = {}, metrics = {}, status }: Recorded,
): Promise<string> {
  const { experiment_id } = await client.call<typeof createExperiment>(
    'POST /projects/{project_id}/experiments',
    { path: { project_id }, body: { name, params, tags } },
  );
  const path = { project_id, experiment_id };
  const points = Object.entries(metrics).flatMap(([metric, values]) =>
    values.map((value, step) => ({ name: metric, value, step })),
  );
  if (points.length > 0)
    await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
      path,
      body: { metrics: points },
    });
  if (status !== undefined) await endRun(client, path, status);
  return experiment_id;
}

/** End a run as the client that recorded it. */
export const endRun = (
  client: Client,
  path: { project_id: string; experiment_id: string },
  status: NonNullable<Recorded['status']>,
) =>
  client.call<typeof updateExperiment>('PATCH /projects/{project_id}/experiments/{experiment_id}', {
    path,
    body: { status },
  });
