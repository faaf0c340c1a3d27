import type { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import type { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { type InventedRun, inventedRun } from './invented-run.ts';

/** Requests that are under way at once. */
const lanes = 12;

const projectName = (count: number) => `${count.toLocaleString('en')} experiments`;

export interface RecordManyOptions {
  /** Name of the project; a project that has it is filled up. */
  name?: string;
  /** Called after every 250 experiments with how many there are. */
  onProgress?: (done: number) => void;
}

export interface RecordedMany {
  project_id: string;
  /** Experiments that an earlier call had recorded whole. */
  found: number;
  seconds: number;
}

async function ensureProject(client: Client, name: string): Promise<string> {
  for await (const row of client.rows<typeof listProjects>('GET /projects/', {
    query: { member: true },
  }))
    if (row.project_name === name) return row.project_id;
  const { project_id } = await client.call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': name,
      'project-description': 'Invented runs of a search for hyperparameters, to look at and to measure with.',
      'project-type': 'supervised',
      'project-task': 'classification',
    },
  });
  return project_id;
}

/** Record one invented run, as a program that trains elsewhere does, or finish the experiment that was begun for it. */
async function recordRun(
  client: Client,
  project_id: string,
  { name, params, tags, note, points, status }: InventedRun,
  begun: string | undefined,
): Promise<void> {
  const created =
    begun ??
    (
      await client.call<typeof createExperiment>('POST /projects/{project_id}/experiments', {
        path: { project_id },
        body: { name, params, tags, note },
      })
    ).experiment_id;
  const path = { project_id, experiment_id: created };
  // Points that name their times are stored once, however often they are sent.
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

interface Present {
  experiment_id: string;
  isWhole: boolean;
}

/** What earlier calls have recorded, by the index of the run, which its name ends with. */
async function findPresent(client: Client, project_id: string): Promise<Map<number, Present>> {
  const present = new Map<number, Present>();
  for await (const row of client.rows<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: { limit: 100, fields: 'experiment_id,name,status,metrics' },
  })) {
    const index = Number(/-(\d+)$/.exec(row.name)?.[1]);
    if (!Number.isSafeInteger(index)) continue;
    const { name, status, points } = inventedRun(index);
    if (row.name !== name) continue;
    const count = Object.values(row.metrics).reduce((sum, one) => sum + one.count, 0);
    const isWhole = row.status === status && count === points.length;
    present.set(index, { experiment_id: row.experiment_id, isWhole });
  }
  return present;
}

/**
 * Record experiments with curves into a project, through the API alone: something to look at, and to measure with. What
 * an interrupted call has left is completed.
 */
export async function recordMany(
  client: Client,
  count: number,
  { name = projectName(count), onProgress = () => {} }: RecordManyOptions = {},
): Promise<RecordedMany> {
  const begun = performance.now();
  const project_id = await ensureProject(client, name);
  const present = await findPresent(client, project_id);
  const missing = Array.from({ length: count }, (_, index) => index).filter(
    (index) => present.get(index)?.isWhole !== true,
  );
  const found = count - missing.length;
  let done = found;
  const left = missing.values();
  const lane = async () => {
    for (const index of left) {
      await recordRun(client, project_id, inventedRun(index), present.get(index)?.experiment_id);
      done += 1;
      if (done % 250 === 0) onProgress(done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, missing.length) }, lane));
  return { project_id, found, seconds: (performance.now() - begun) / 1000 };
}
