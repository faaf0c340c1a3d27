import { Readable } from 'node:stream';
import * as z from 'zod';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { CliError } from '../cli-error.ts';
import { failureOf } from './failure-of.ts';
import { idText } from './fit-names.ts';
import { completeTag, FittedRun, importedTag, parentTag, valuesFile } from './fit-run.ts';
import { type PointBatch, timeOf } from './point-batches.ts';
import type { Pair, RunSource, SourcePoint, SourceRun } from './source.ts';
import { filesOf } from './sources/mlflow-server.ts';
import { rootOf, storeFile } from './store-file.ts';
import type { TrackingApi } from './tracking-api.ts';

/**
 * Copy a run with all its data. Each step is repeatable, so an interrupted import continues. What this service refuses
 * is stored as the artifact {@link valuesFile}. Points or files that cannot be read do not keep the others back.
 * @param known the run of an earlier, interrupted import
 * @returns its id here, with the numbers of copied items
 */
export async function copyRun(
  into: CopyInto,
  experiment_id: string,
  run: SourceRun,
  known: string | undefined,
): Promise<CopiedRun> {
  const points = into.source.points(run)[Symbol.asyncIterator]();
  try {
    return await copyWith({ [Symbol.asyncIterator]: () => points }, into, experiment_id, run, known);
  } finally {
    // An error leaves them where they are, with files open.
    await points.return?.();
  }
}

async function copyWith(
  points: AsyncIterable<readonly SourcePoint[]>,
  { source, api, rename }: CopyInto,
  experiment_id: string,
  run: SourceRun,
  known: string | undefined,
): Promise<CopiedRun> {
  const copied: Copied = { params: 0, points: 0, files: 0, bytes: 0 };
  const faults: string[] = [];
  /** Copy a part of the run. Its failure is a fault of the run, and the other parts come. */
  const part = async (copy: () => Promise<void>, name?: string): Promise<void> => {
    try {
      await copy();
    } catch (error) {
      const failure = failureOf(error);
      faults.push(name === undefined ? failure : `${name}: ${failure}`);
    }
  };
  const fitted = new FittedRun(run, rename);
  const { omissions, refused } = fitted;
  const note = omissions.add.bind(omissions);
  const batches = fitted.batches(points);
  const first = (await batches.next()).value ?? { series: [], points: 0, last: 0 };
  let last = Math.max(timeOf(run.start) ?? 0, first.last);
  const begun = known === undefined ? await beginWhole(api, experiment_id, run, fitted, first) : undefined;
  const { run_id, artifact_uri } = begun ?? (await beginRun(api, experiment_id, run, known));
  copied.params = fitted.params.length;
  if (known !== undefined) for (const key of run.removedTags ?? []) await removeTag(api, run_id, key);
  if (begun === undefined) {
    for (const kind of ['params', 'tags'] as const) {
      const rejected = await logHalving(fitted[kind], (some) =>
        api.run('POST mlflow/runs/log-batch', { body: { run_id, [kind]: some } }),
      );
      refused[kind].push(...rejected);
      if (rejected.length > 0) note(`${kind} that the service refuses: in ${valuesFile}`, rejected.length);
      if (kind === 'params') copied.params -= rejected.length;
    }
    await part(() => logSeries(api, run_id, first));
  }
  copied.points = first.points;
  // One request is under way while the next points are read.
  let sending = Promise.resolve();
  await part(async () => {
    for await (const batch of batches) {
      await sending;
      if (faults.length > 0) break;
      sending = part(() => logSeries(api, run_id, batch));
      // The error comes at the next `await`, also where reading fails first.
      sending.catch(() => undefined);
      copied.points += batch.points;
      last = Math.max(last, batch.last);
    }
  });
  await sending;
  const unknown = await logHalving(run.datasets, (datasets) =>
    api.run('POST mlflow/runs/log-inputs', { body: { run_id, datasets } }),
  );
  refused.datasets.push(...unknown);
  if (unknown.length > 0) note(`data sets that the service refuses: in ${valuesFile}`, unknown.length);
  const present = new Map<string, number>();
  if (known !== undefined) for await (const { path, size } of filesOf(api, run_id)) present.set(path, size);
  const root = rootOf(artifact_uri);
  await part(async () => {
    for await (const file of source.files(run)) {
      const path = fitted.pathOf(file.path);
      await part(async () => {
        if (present.get(path) !== file.size)
          await store(api, root, path, file.size, await source.openFile(run, file));
        copied.files += 1;
        copied.bytes += file.size;
      }, file.path);
      if (faults.length >= maxRefusals) break;
    }
  });
  if (refused.params.length + refused.tags.length + refused.datasets.length > 0) {
    const bytes = Buffer.from(JSON.stringify(refused, undefined, 2));
    await store(api, root, valuesFile, bytes.length, Readable.from([bytes]));
  }
  fitted.noteOthers(source.omitted?.(run));
  return { run_id, omitted: omissions.counts, faults, last, ...copied };
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
  /** What could not be brought now, with the reasons. The next import tries it again. */
  faults: readonly string[];
}

/** Numbers of copied items of a run. */
interface Copied {
  params: number;
  points: number;
  files: number;
  bytes: number;
}

export const Target = z.object({ run: z.object({ info: z.object({ artifact_uri: z.string() }) }) });

const Created = z.object({
  run: z.object({
    info: z.object({ run_id: z.string(), artifact_uri: z.string() }),
    data: z
      .object({ params: z.array(z.unknown()).default([]), metrics: z.array(z.unknown()).default([]) })
      .default({ params: [], metrics: [] }),
  }),
});

type Begun = Pick<z.output<typeof Target>['run']['info'], 'artifact_uri'> & { run_id: string };

/**
 * Begin a run with its params, its tags and its first points in one request.
 * @returns undefined if the service refuses some of them, or they are too many for a request
 * @throws CliError if the service does not know such requests
 */
async function beginWhole(
  api: TrackingApi,
  experiment_id: string,
  run: SourceRun,
  { params, tags }: { params: readonly Pair[]; tags: readonly Pair[] },
  { series }: PointBatch,
): Promise<Begun | undefined> {
  const characters = [...params, ...tags].reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  if (characters > maxFirstPairs) return undefined;
  const body = { ...beginning(experiment_id, run, tags), params, series };
  try {
    const { run: begun } = await api.json(Created, 'POST mlflow/runs/create', { body, isRepeatable: false });
    if (begun.data.params.length < params.length || begun.data.metrics.length < series.length)
      throw new CliError(`${api.url} is older than this command. Install mps.tgz from the service.`);
    return begun.info;
  } catch (error) {
    if (error instanceof ProblemError && [400, 409].includes(error.status)) return undefined;
    throw error;
  }
}

/** Maximum characters of params and tags in the first request, which takes 4.4 MB with its points. */
const maxFirstPairs = 300_000;

const beginning = (experiment_id: string, run: SourceRun, tags: readonly Pair[]): object => ({
  experiment_id,
  user_id: run.user.toWellFormed(),
  run_name: run.name.toWellFormed(),
  ...(timeOf(run.start) !== undefined && { start_time: run.start }),
  tags: [{ key: importedTag, value: idText(run.id) }, ...tags],
});

/** Begin a run here, or return the one that an earlier import began. */
async function beginRun(
  api: TrackingApi,
  experiment_id: string,
  run: SourceRun,
  known: string | undefined,
): Promise<Begun> {
  if (known !== undefined) {
    const query = { run_id: known };
    return (await api.json(Created, 'GET mlflow/runs/get', { query })).run.info;
  }
  const body = beginning(experiment_id, run, []);
  const created = await api.json(Created, 'POST mlflow/runs/create', { body, isRepeatable: false });
  return created.run.info;
}

async function removeTag(api: TrackingApi, run_id: string, key: string): Promise<void> {
  try {
    await api.run('POST mlflow/runs/delete-tag', { body: { run_id, key } });
  } catch (error) {
    if (!(error instanceof ProblemError && error.status === 404)) throw error;
  }
}

const itemsAtOnce = 100;

/** Refusals of single items after which the rest of a run's items is refused, too. */
const maxRefusals = 20;

/** Send items, some at once. Return those that the service refuses, for example because a run takes no more. */
async function logHalving<T>(items: readonly T[], send: (some: readonly T[]) => Promise<void>): Promise<T[]> {
  const refused: T[] = [];
  const waiting: (readonly T[])[] = [];
  for (let from = 0; from < items.length; from += itemsAtOnce)
    waiting.push(items.slice(from, from + itemsAtOnce));
  for (let some = waiting.shift(); some !== undefined; some = waiting.shift()) {
    if (refused.length >= maxRefusals) {
      refused.push(...some);
      continue;
    }
    try {
      await send(some);
    } catch (error) {
      if (!(error instanceof ProblemError) || ![400, 413].includes(error.status)) throw error;
      const half = Math.ceil(some.length / 2);
      if (some.length === 1) refused.push(...some);
      else waiting.unshift(some.slice(0, half), some.slice(half));
    }
  }
  return refused;
}

async function logSeries(api: TrackingApi, run_id: string, { series, points }: PointBatch): Promise<void> {
  if (points > 0) await api.run('POST mlflow/runs/log-batch', { body: { run_id, series } });
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
 * @param parent run in this service in which it is nested
 */
export async function endRun(
  api: TrackingApi,
  run: SourceRun,
  { run_id, last }: CopiedRun,
  { isOver, parent }: { isOver: boolean; parent: string | undefined },
): Promise<void> {
  const end_time = timeOf(run.end) ?? (last > 0 ? last : undefined);
  const tags = [
    ...(parent === undefined ? [] : [{ key: parentTag, value: parent }]),
    ...(isOver ? [{ key: completeTag, value: run.state ?? 'true' }] : []),
  ];
  const isSettled = settled.includes(run.status);
  if (isSettled || tags.length > 0)
    await api.run('POST mlflow/runs/update', {
      body: {
        ...{ run_id, tags },
        ...(isSettled && { status: run.status }),
        ...(isSettled && end_time !== undefined && { end_time }),
      },
    });
  if (run.isDeleted) await api.run('POST mlflow/runs/delete', { body: { run_id } });
}
