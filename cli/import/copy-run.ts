import { Readable } from 'node:stream';
import * as z from 'zod';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { latest } from '../../shared/mlflow/protocol/scalars.ts';
import { Names, plainPath, tooLong } from './fit-names.ts';
import type { Pair, RunSource, SourcePoint, SourceRun } from './source.ts';
import { filesOf } from './sources/mlflow-server.ts';
import { Omissions } from './sources/omissions.ts';
import { rootOf, storeFile } from './store-file.ts';
import type { TrackingApi } from './tracking-api.ts';

/**
 * Copy a run with all its data. Each step is repeatable, so an interrupted import continues. What this service refuses
 * is stored as the artifact {@link valuesFile}.
 * @param known the run of an earlier, interrupted import
 * @returns its id here, with the numbers of copied items
 */
export async function copyRun(
  { source, api, rename }: CopyInto,
  experiment_id: string,
  run: SourceRun,
  known: string | undefined,
): Promise<CopiedRun> {
  const { run_id, artifact_uri } = await beginRun(api, experiment_id, run, known);
  const copied: Copied = { params: 0, points: 0, files: 0, bytes: 0 };
  const refused: Refused = { params: [], tags: [] };
  const omissions = new Omissions();
  const note = omissions.add.bind(omissions);
  const tags = run.tags.filter(({ key }) => !ownTags.has(key));
  for (const [kind, pairs] of [['params', run.params] as const, ['tags', tags] as const]) {
    const fitted = fitPairs(kind, pairs, refused, note);
    const rejected = await logPairs(api, run_id, kind, fitted);
    refused[kind].push(...rejected);
    if (rejected.length > 0) note(`${kind} that the service refuses: in ${valuesFile}`, rejected.length);
    if (kind === 'params') copied.params = fitted.length - rejected.length;
  }
  if (run.datasets.length > 0)
    await api.run('POST mlflow/runs/log-inputs', { body: { run_id, datasets: run.datasets } });
  let last = timeOf(run.start) ?? 0;
  if (run.start !== timeOf(run.start)) note(`times ${range}: left out`);
  const names = new Names();
  const firsts = new Map<string, string>();
  const nameOf = (key: string): string => {
    const name = names.fit(rename(key));
    const first = firsts.get(name);
    if (first === undefined) firsts.set(name, key);
    else if (first !== key && !joined.has(key))
      joined.set(key, `metrics ${first} and ${key}: both are ${name} here`);
    return name;
  };
  const joined = new Map<string, string>();
  for await (const read of source.points(run)) {
    const points = fitPoints(read, note);
    await logPoints(api, run_id, points, nameOf);
    copied.points += points.length;
    for (const { timestamp } of points) last = Math.max(last, timestamp);
  }
  for (const [name, fitted] of names.changed) note(`name ${name}: it is ${fitted} here`);
  for (const reason of joined.values()) note(reason);
  const present = new Map<string, number>();
  if (known !== undefined) for await (const { path, size } of filesOf(api, run_id)) present.set(path, size);
  const root = rootOf(artifact_uri);
  const paths = new Names(plainPath);
  for await (const file of source.files(run)) {
    copied.files += 1;
    copied.bytes += file.size;
    const path = paths.fit(file.path);
    if (present.get(path) !== file.size)
      await store(api, root, path, file.size, await source.openFile(run, file));
  }
  for (const [path, fitted] of paths.changed) note(`file ${path}: it is ${fitted} here`);
  if (refused.params.length + refused.tags.length > 0) {
    const bytes = Buffer.from(JSON.stringify(refused, undefined, 2));
    await store(api, root, valuesFile, bytes.length, Readable.from([bytes]));
  }
  for (const [reason, count] of source.omitted?.(run) ?? []) note(reason, count);
  return { run_id, omitted: omissions.counts, last, ...copied };
}

export interface CopyInto {
  source: RunSource;
  api: TrackingApi;
  /** Return the name here of a metric of the source. */
  rename(metric: string): string;
}

export interface CopiedRun extends Copied {
  run_id: string;
  /** Milliseconds since the epoch of the last point. */
  last: number;
  omitted: ReadonlyMap<string, number>;
}

/** Numbers of copied items of a run. */
interface Copied {
  params: number;
  points: number;
  files: number;
  bytes: number;
}

interface Refused {
  params: Pair[];
  tags: Pair[];
}

/** Artifact with the params and tags of a run that do not fit. */
const valuesFile = 'import/values.json';

export const Target = z.object({ run: z.object({ info: z.object({ artifact_uri: z.string() }) }) });

const Created = z.object({
  run: z.object({ info: z.object({ run_id: z.string(), artifact_uri: z.string() }) }),
});

/** Begin a run here, or return the one that an earlier import began. */
async function beginRun(
  api: TrackingApi,
  experiment_id: string,
  run: SourceRun,
  known: string | undefined,
): Promise<{ run_id: string; artifact_uri: string }> {
  if (known !== undefined) {
    const query = { run_id: known };
    return (await api.json(Created, 'GET mlflow/runs/get', { query })).run.info;
  }
  const created = await api.json(Created, 'POST mlflow/runs/create', {
    body: {
      experiment_id,
      user_id: run.user,
      run_name: run.name,
      ...(timeOf(run.start) !== undefined && { start_time: run.start }),
      tags: [{ key: importedTag, value: run.id }],
    },
    isRepeatable: false,
  });
  return created.run.info;
}

/** Tag of an imported run with its id at the source. */
export const importedTag = 'import.run_id';

export const parentTag = 'mlflow.parentRunId';

/** Tag of a completely imported run, with the state of the source. */
export const completeTag = 'import.complete';

/** Tags that the import writes. Those of a source that was imported itself are of that import. */
const ownTags: ReadonlySet<string> = new Set([importedTag, completeTag, parentTag]);

/** Return a time that this service takes. Clocks of some machines begin in 1970 or before. */
const timeOf = (time: number | undefined): number | undefined =>
  time !== undefined && Number.isInteger(time) && time >= 0 && time <= latest ? time : undefined;

const range = 'before 1970 or after 9999';

/** Leave out points without a whole step, and give times that this service refuses its nearest one. */
function fitPoints(points: readonly SourcePoint[], note: (reason: string) => void): readonly SourcePoint[] {
  if (points.every(({ step, timestamp }) => Number.isSafeInteger(step) && timeOf(timestamp) !== undefined))
    return points;
  return points.flatMap((point) => {
    if (!Number.isSafeInteger(point.step)) {
      note('points whose step is no whole number below 2^53: left out');
      return [];
    }
    if (timeOf(point.timestamp) !== undefined) return [point];
    note(`times ${range}: the nearest one here`);
    return [{ ...point, timestamp: Math.min(latest, Math.max(0, Math.round(point.timestamp) || 0)) }];
  });
}

/** Give names and values the form that this service takes. Note what changes, and keep the whole value in `refused`. */
function fitPairs(
  kind: keyof Refused,
  pairs: readonly Pair[],
  refused: Refused,
  note: (reason: string) => void,
): Pair[] {
  const names = new Names();
  return pairs.map((pair) => {
    const key = names.fit(pair.key);
    const value = tooLong[kind](pair.value);
    if (key !== pair.key) note(`name ${pair.key}: it is ${key} here`);
    if (value === undefined) return { key, value: pair.value };
    refused[kind].push(pair);
    note(`${kind} whose value is too long: cut here, whole in ${valuesFile}`);
    return { key, value };
  });
}

const pairsAtOnce = 100;

/** Refusals of single values after which the rest of a run's values is refused, too. */
const maxRefusals = 20;

/** Log params or tags. Return those that the service refuses, for example because a run takes no more. */
async function logPairs(
  api: TrackingApi,
  run_id: string,
  kind: keyof Refused,
  pairs: readonly Pair[],
): Promise<Pair[]> {
  const refused: Pair[] = [];
  const waiting: (readonly Pair[])[] = [];
  for (let from = 0; from < pairs.length; from += pairsAtOnce)
    waiting.push(pairs.slice(from, from + pairsAtOnce));
  for (let some = waiting.shift(); some !== undefined; some = waiting.shift()) {
    if (refused.length >= maxRefusals) {
      refused.push(...some);
      continue;
    }
    try {
      await api.run('POST mlflow/runs/log-batch', { body: { run_id, [kind]: some } });
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 400) throw error;
      const half = Math.ceil(some.length / 2);
      if (some.length === 1) refused.push(...some);
      else waiting.unshift(some.slice(0, half), some.slice(half));
    }
  }
  return refused;
}

const pointsAtOnce = 1000;

async function logPoints(
  api: TrackingApi,
  run_id: string,
  points: readonly SourcePoint[],
  nameOf: (key: string) => string,
): Promise<void> {
  for (let from = 0; from < points.length; from += pointsAtOnce) {
    const metrics = points
      .slice(from, from + pointsAtOnce)
      .map((point) => ({ ...point, key: nameOf(point.key) }));
    await api.run('POST mlflow/runs/log-batch', { body: { run_id, metrics } });
  }
}

async function store(
  api: TrackingApi,
  root: string,
  path: string,
  size: number,
  stream: Readable,
): Promise<void> {
  const slash = path.lastIndexOf('/');
  const folder = slash < 0 ? root : `${root}/${path.slice(0, slash)}`;
  await storeFile(api, { folder, name: path.slice(slash + 1), size }, stream);
}

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
  { run_id, last }: CopiedRun,
  isOver: boolean,
): Promise<void> {
  const end_time = timeOf(run.end) ?? (last > 0 ? last : undefined);
  if (settled.includes(run.status))
    await api.run('POST mlflow/runs/update', {
      body: { run_id, status: run.status, ...(end_time !== undefined && { end_time }) },
    });
  if (isOver)
    await api.run('POST mlflow/runs/set-tag', {
      body: { run_id, key: completeTag, value: run.state ?? 'true' },
    });
  if (run.isDeleted) await api.run('POST mlflow/runs/delete', { body: { run_id } });
}
