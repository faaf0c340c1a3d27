import type { Readable } from 'node:stream';
import * as z from 'zod';
import { CommandError } from '../../command/command-error.ts';
import { filesOf, historyOf } from './server-source.ts';
import type { MlflowSource, Pair, SourcePoint, SourceRun } from './source.ts';
import type { TrackingApi } from './tracking-api.ts';

/**
 * Copy a run with all its data. Each step is repeatable, so an interrupted import continues.
 * @param known the run of an earlier, interrupted import
 * @returns its id here, with the numbers of copied items
 */
export async function copyRun(
  both: { source: MlflowSource; api: TrackingApi },
  experiment_id: string,
  run: SourceRun,
  known: string | undefined,
): Promise<{ run_id: string } & Copied> {
  const { api } = both;
  const run_id = known ?? (await beginRun(api, experiment_id, run));
  await logPairs(api, run_id, 'params', run.params);
  await logPairs(
    api,
    run_id,
    'tags',
    run.tags.filter(({ key }) => key !== parentTag),
  );
  if (run.datasets.length > 0)
    await api.run('POST mlflow/runs/log-inputs', { body: { run_id, datasets: run.datasets } });
  let points = 0;
  for (const metric of run.metrics) points += await copyMetric(both, run, run_id, metric);
  const { run: target } = await api.json(Target, 'GET mlflow/runs/get', { query: { run_id } });
  const params = new Set(run.params.map(({ key }) => key)).size;
  if (target.data.params.length !== params)
    throw new CommandError(
      `this service has ${target.data.params.length} params, but the source has ${params}`,
    );
  const files = await copyFiles(both, run, run_id, rootOf(target.info.artifact_uri));
  return { run_id, params, points, ...files };
}

/** Numbers of copied items of a run. */
interface Copied {
  params: number;
  points: number;
  files: number;
  bytes: number;
}

const Created = z.object({ run: z.object({ info: z.object({ run_id: z.string() }) }) });

/** Begin a run here, or return the one that an earlier import began. */
async function beginRun(api: TrackingApi, experiment_id: string, run: SourceRun): Promise<string> {
  const created = await api.json(Created, 'POST mlflow/runs/create', {
    body: {
      experiment_id,
      user_id: run.user,
      run_name: run.name,
      ...(run.start !== undefined && { start_time: run.start }),
      tags: [{ key: importedTag, value: run.id }],
    },
    isRepeatable: false,
  });
  return created.run.info.run_id;
}

/** Tag of an imported run with its id at the source. */
export const importedTag = 'import.run_id';

const pairsAtOnce = 100;

async function logPairs(
  api: TrackingApi,
  run_id: string,
  kind: 'params' | 'tags',
  pairs: readonly Pair[],
): Promise<void> {
  for (let from = 0; from < pairs.length; from += pairsAtOnce)
    await api.run('POST mlflow/runs/log-batch', {
      body: { run_id, [kind]: pairs.slice(from, from + pairsAtOnce) },
    });
}

export const parentTag = 'mlflow.parentRunId';

const pointsAtOnce = 1000;

/** Copy a metric. @returns the number of distinct points: the service stores no point twice */
async function copyMetric(
  { source, api }: { source: MlflowSource; api: TrackingApi },
  run: SourceRun,
  run_id: string,
  metric: string,
): Promise<number> {
  const distinct = new Set<string>();
  for await (const points of source.points(run, metric)) {
    for (const point of points) distinct.add(identity(point));
    for (let from = 0; from < points.length; from += pointsAtOnce)
      await api.run('POST mlflow/runs/log-batch', {
        body: { run_id, metrics: points.slice(from, from + pointsAtOnce) },
      });
  }
  let stored = 0;
  for await (const points of historyOf(api, run_id, metric)) stored += points.length;
  if (stored !== distinct.size)
    throw new CommandError(
      `the metric ${metric} has ${stored} points in this service, but ${distinct.size} at the source`,
    );
  return stored;
}

const identity = ({ value, timestamp, step }: SourcePoint): string => `${step} ${timestamp} ${value}`;

export const Target = z.object({
  run: z.object({
    info: z.object({ artifact_uri: z.string() }),
    data: z.object({ params: z.array(z.unknown()).default([]) }).default({ params: [] }),
  }),
});

async function copyFiles(
  { source, api }: { source: MlflowSource; api: TrackingApi },
  run: SourceRun,
  run_id: string,
  root: string,
): Promise<{ files: number; bytes: number }> {
  const present = new Map<string, number>();
  for await (const { path, size } of filesOf(api, run_id)) present.set(path, size);
  const copied = { files: 0, bytes: 0 };
  for await (const { path, size } of source.files(run)) {
    copied.files += 1;
    copied.bytes += size;
    if (present.get(path) === size) continue;
    const slash = path.lastIndexOf('/');
    const folder = slash < 0 ? root : `${root}/${path.slice(0, slash)}`;
    await storeFile(api, { folder, name: path.slice(slash + 1), size }, await source.openFile(run, path));
  }
  let stored = 0;
  for await (const _ of filesOf(api, run_id)) stored += 1;
  if (stored !== copied.files)
    throw new CommandError(`this service has ${stored} artifacts, but the source has ${copied.files}`);
  return copied;
}

/**
 * Upload larger files to storage in parts. Smaller ones go through the service, whose functions accept at most 6
 * MB.
 */
const maxWhole = 4_000_000;

const minPart = 16 * 1024 * 1024;

/** Maximum number of parts that the service signs for one upload. */
const maxParts = 3000;

const Upload = z.object({
  upload_id: z.string(),
  credentials: z.array(z.object({ url: z.string(), part_number: z.number() })),
});

/**
 * Store a file of known size under an artifact address. Hold at most one part in memory.
 * @throws CommandError if the stream has another size
 */
async function storeFile(
  api: TrackingApi,
  { folder, name, size }: { folder: string; name: string; size: number },
  stream: Readable,
): Promise<void> {
  let received = 0;
  const requireWhole = (): void => {
    if (received !== size)
      throw new CommandError(`${folder}/${name} has ${received} bytes instead of ${size}.`);
  };
  if (size <= maxWhole) {
    const blocks: Buffer[] = [];
    for await (const block of stream) {
      blocks.push(Buffer.from(block));
      received += blocks.at(-1)?.length ?? 0;
      if (received > size) break;
    }
    requireWhole();
    const bytes = Buffer.concat(blocks);
    await api.run(`PUT mlflow-artifacts/artifacts/${encoded(`${folder}/${name}`)}`, { bytes });
    return;
  }
  const partBytes = Math.max(minPart, Math.ceil(size / maxParts));
  const num_parts = Math.ceil(size / partBytes);
  const location = encoded(folder);
  const { upload_id, credentials } = await api.json(Upload, `POST mlflow-artifacts/mpu/create/${location}`, {
    body: { path: name, num_parts },
  });
  const parts: { part_number: number }[] = [];
  for await (const block of blocksOf(stream, partBytes)) {
    const part = credentials[parts.length];
    received += block.length;
    if (part === undefined || received > size) break;
    await sendPart(part.url, block);
    parts.push({ part_number: part.part_number });
  }
  requireWhole();
  await api.run(`POST mlflow-artifacts/mpu/complete/${location}`, { body: { path: name, upload_id, parts } });
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Split a stream into blocks of exactly `bytes`, and a shorter last one. */
async function* blocksOf(stream: Readable, bytes: number): AsyncGenerator<Buffer<ArrayBuffer>> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    held.push(Buffer.from(chunk));
    size += held.at(-1)?.length ?? 0;
    while (size >= bytes) {
      const all = Buffer.concat(held);
      yield all.subarray(0, bytes);
      held = [all.subarray(bytes)];
      size -= bytes;
    }
  }
  if (size > 0) yield Buffer.concat(held);
}

async function sendPart(url: string, bytes: Buffer<ArrayBuffer>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, { method: 'PUT', body: bytes }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return;
    if (attempt === 5)
      throw new CommandError(`Storage refused a part of a file: ${response?.status ?? 'no answer'}`);
  }
}

/** Return the path of `mlflow-artifacts:/<path>`. */
export const rootOf = (artifact_uri: string): string => artifact_uri.replace(/^mlflow-artifacts:\/+/, '');

/** Tag of a completely imported run. */
export const completeTag = 'import.complete';

/** Whether a client may still add to a run. */
export const goesOn = ({ status, isDeleted }: SourceRun): boolean =>
  !isDeleted && (status === 'RUNNING' || status === 'SCHEDULED');

/** Statuses that differ from the status of a new run. */
const settled = ['SCHEDULED', 'FINISHED', 'FAILED', 'KILLED'];

/**
 * End a completely copied run with its status at the source.
 * @param isOver whether clients add no more data to the run at the source; otherwise the next import checks it
 * again
 */
export async function endRun(
  api: TrackingApi,
  run: SourceRun,
  run_id: string,
  isOver: boolean,
): Promise<void> {
  if (settled.includes(run.status))
    await api.run('POST mlflow/runs/update', {
      body: { run_id, status: run.status, ...(run.end !== undefined && { end_time: run.end }) },
    });
  if (isOver)
    await api.run('POST mlflow/runs/set-tag', { body: { run_id, key: completeTag, value: 'true' } });
  if (run.isDeleted) await api.run('POST mlflow/runs/delete', { body: { run_id } });
}
