import type { endpoint as createExperiment } from '../../functions/experiments/create-experiment.endpoint.ts';
import type { endpoint as logMetrics } from '../../functions/experiments/log-metrics.endpoint.ts';
import type { endpoint as updateExperiment } from '../../functions/experiments/update-experiment.endpoint.ts';
import type { endpoint as createProject } from '../../functions/projects/create-project.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { inventedRun } from './invented-run.ts';

/** Requests that are under way at once. */
const lanes = 12;

export interface RecordedMany {
  project_id: string;
  seconds: number;
}

/** Record one invented run, as a program that trains elsewhere does. */
async function recordRun(client: Client, project_id: string, index: number): Promise<void> {
  const { name, params, tags, note, points, status } = inventedRun(index);
  const { experiment_id } = await client.call<typeof createExperiment>(
    'POST /projects/{project_id}/experiments',
    { path: { project_id }, body: { name, params, tags, note } },
  );
  const path = { project_id, experiment_id };
  await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
    path,
    body: { metrics: points },
  });
  if (status === 'RUNNING') return;
  await client.call<typeof updateExperiment>('PATCH /projects/{project_id}/experiments/{experiment_id}', {
    path,
    body: { status },
  });
}

/**
 * Record experiments with curves into a new project, through the API alone: something to look at, and to measure with.
 *
 * @param onProgress told from time to time how many there are
 */
export async function recordMany(
  client: Client,
  count: number,
  onProgress: (done: number) => void = () => {},
): Promise<RecordedMany> {
  const begun = performance.now();
  const { project_id } = await client.call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': `${count.toLocaleString('en')} experiments`,
      'project-description': 'Invented runs of a search for hyperparameters, to look at and to measure with.',
      'project-type': 'supervised',
      'project-task': 'classification',
    },
  });
  let next = 0;
  let done = 0;
  const lane = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await recordRun(client, project_id, index);
      done += 1;
      if (done % 250 === 0) onProgress(done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
  return { project_id, seconds: (performance.now() - begun) / 1000 };
}
