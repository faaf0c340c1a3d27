import type { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import type { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { inLanes } from '../../../shared/core/in-lanes.ts';

/**
 * Record experiments with curves into a project, only through the API, for viewing and for measurements. Complete
 * the work of an interrupted call.
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
  await inLanes(missing, lanes, async (index) => {
    await recordRun(client, project_id, inventedRun(index), present.get(index)?.experiment_id);
    done += 1;
    if (done % 250 === 0) onProgress(done);
  });
  return { project_id, found, seconds: (performance.now() - begun) / 1000 };
}

const projectName = (count: number) => `${count.toLocaleString('en')} experiments`;

interface RecordManyOptions {
  /** Name of the project. An existing project is completed. */
  name?: string;
  /** Called after every 250 experiments with their number. */
  onProgress?: (done: number) => void;
}

interface RecordedMany {
  project_id: string;
  /** Number of experiments that an earlier call had recorded completely. */
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

/** Find experiments of earlier calls by the run's index, which ends their names. */
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

interface Present {
  experiment_id: string;
  isWhole: boolean;
}

const models = ['resnet18', 'resnet50', 'mobilenet_v2', 'vit_tiny', 'convnext_s'] as const;

const optimizers = ['adam', 'adamw', 'sgd'] as const;

const batches = [32, 64, 128, 256] as const;

/** Number of running, failed and cancelled runs per thousand. */
const running = 3;

const failed = 45;

const cancelled = 20;

const steps = 40;

export function inventedRun(index: number): InventedRun {
  const random = randomOf(index);
  const model = pick(models, random());
  const optimizer = pick(optimizers, random());
  const lr = Number((10 ** (-4 + 3 * random())).toPrecision(3));
  const batch_size = pick(batches, random());
  const dropout = Number((random() * 0.5).toFixed(2));
  const seed = index % 10;
  // The best learning rate is near 0.003. Runs with other rates learn less.
  const miss = Math.abs(Math.log10(lr / 0.003));
  const ceiling = 0.97 - 0.09 * miss ** 2 - 0.04 * Math.abs(dropout - 0.2) + 0.008 * models.indexOf(model);
  const speed = 4 + 8 * random();
  const begun = Date.parse('2026-01-05T08:00:00Z') + index * 97_000;
  const chance = random() * 1000;
  const status =
    chance < running
      ? 'RUNNING'
      : chance < running + failed
        ? 'FAILED'
        : chance < running + failed + cancelled
          ? 'CANCELLED'
          : 'SUCCEEDED';
  const last = status === 'SUCCEEDED' ? steps : 5 + Math.floor(random() * (steps - 5));
  const points: InventedRun['points'] = [];
  for (let step = 1; step <= last; step += 1) {
    const rise = 1 - Math.exp(-step / speed);
    const accuracy = Math.max(0.1, ceiling * rise + (random() - 0.5) * 0.03);
    const loss = 2.3 * Math.exp(-step / speed) + 0.15 + 0.2 * miss + (random() - 0.5) * 0.08;
    const time = new Date(begun + step * 11_000).toISOString();
    points.push({ name: 'accuracy', value: accuracy, step, time }, { name: 'loss', value: loss, step, time });
    if (step % 4 === 0)
      points.push({ name: 'val_accuracy', value: accuracy - 0.02 - 0.03 * random(), step, time });
  }
  return {
    name: `${model}-${optimizer}-${index}`,
    note: index % 400 === 0 ? '## Baseline\n\nThe *reference* of this block of the search.' : null,
    params: { model, optimizer, lr, batch_size, dropout, seed },
    tags: { block: String(Math.floor(index / 400)), ...(index % 400 === 0 && { stage: 'baseline' }) },
    points,
    status,
  };
}

/** A run of an invented hyperparameter search. The same index makes the same run. */
interface InventedRun {
  name: string;
  note: string | null;
  params: Record<string, string | number | boolean>;
  tags: Record<string, string>;
  points: { name: string; value: number; step: number; time: string }[];
  status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
}

/** Mulberry32: a small, uniform generator for invented numbers. */
function randomOf(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const pick = <T>(from: readonly T[], random: number): T => {
  const found = from[Math.floor(random * from.length)];
  if (found === undefined) throw new RangeError('random must be below 1');
  return found;
};

/** Record one invented run as an external training program does, or finish its begun experiment. */
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
  // Points with times are stored only once, even if they are sent several times.
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

/** Number of concurrent requests. */
const lanes = 12;
