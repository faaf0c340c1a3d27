import { notFound, ServiceError } from '../../core/service-error.ts';
import { metricChunk } from '../metrics/job-metrics.ts';
import { readRuns } from '../metrics/metric-history.ts';
import {
  allSummaries,
  maxMetricNames,
  putMetricPart,
  readMetricParts,
  withPoints,
} from '../metrics/metric-summaries.ts';
import { comparePoints, isAfter, type MetricPoint, type MetricSummary } from '../metrics/metric-summary.ts';
import { chunksPerGroup, compactPoints } from '../metrics/point-blocks.ts';
import { noteFirstCriterion } from '../projects/first-criterion.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import { storedNumber } from '../table/stored-number.ts';
import type { TableReader, TableWriter } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { markChanged } from './catalogue-mark.ts';
import { type Experiment, experimentExists } from './experiment.ts';

/**
 * Add the points of a client to an experiment and to the summary of its metrics, in one transaction. Points that are
 * stored already are left out, so that a repetition changes nothing.
 * @param read what {@link readBeforePoints} found, where it was begun before; out of date, it costs another call
 * @returns how many were new
 * @throws ServiceError `conflict` where they have more names than an experiment may
 * @throws ServiceError `not-found` once the experiment is gone
 */
export function logPoints(
  records: TableWriter<'records'>,
  { project_id, experiment_id }: ExperimentKey,
  points: readonly MetricPoint[],
  read = () => readBeforePoints(records, { project_id, experiment_id }),
): Promise<number> {
  return retryOnConflict(async () => {
    const { parts, mark } = await read();
    const fresh = await withoutStored(records, experiment_id, points, allSummaries(parts));
    if (fresh.length === 0) return 0;
    const next = withPoints(parts, fresh);
    if (next.omitted.size > 0) {
      const message = `An experiment has at most ${maxMetricNames} metrics, whose names take at most 1 MB together.`;
      throw new ServiceError('conflict', message);
    }
    const first = next.parts[0]?.next_chunk ?? 0;
    const chunks = chunksOf(fresh).map((rows, index) =>
      metricChunk(experiment_id, clientLease, first + index, rows),
    );
    // The first part counts the chunks, so it is written with every one.
    const written = new Set([0, ...next.changed]);
    const writes = [
      mark.write,
      ...(mark.exists ? [] : [gone.on(experimentExists(project_id, experiment_id))]),
      ...chunks.map((put) => ({ put, if: { exists: false } })),
      ...next.parts.flatMap((part, index) => {
        if (!written.has(index)) return [];
        const previous = { part: parts[index] };
        const version = (previous.part?.version ?? 0) + 1;
        const value = index === 0 ? { ...part, next_chunk: first + chunks.length, version } : part;
        return [putMetricPart(project_id, experiment_id, index, value, previous)];
      }),
    ];
    // Only a run that reports a new metric can tell something new.
    if (next.hasNew)
      await noteFirstCriterion(records, { project_id, experiment_id }, allSummaries(next.parts).keys());
    await records.write(...writes).catch((error: unknown) => {
      throw gone.failedIn(error) ? notFound('experiment', experiment_id) : error;
    });
    const isGroup = Math.floor((first + chunks.length) / chunksPerGroup) > Math.floor(first / chunksPerGroup);
    // The points are stored: what goes wrong here is left to the next.
    if (isGroup) await compactPoints(records, experiment_id).catch(() => undefined);
    return fresh.length;
  });
}

type ExperimentKey = Pick<Experiment, 'project_id' | 'experiment_id'>;

export async function readBeforePoints(
  records: TableReader<'records'>,
  { project_id, experiment_id }: ExperimentKey,
) {
  const [parts, mark] = await Promise.all([
    readMetricParts(records, project_id, experiment_id),
    markChanged(records, project_id, experiment_id),
  ]);
  return { parts, mark };
}

/**
 * Those of the points that are not stored yet, each once. A point that is greater than all of its metric, as nearly every
 * one is, cannot be stored or repeated; only for the others the points are read and compared.
 */
export async function withoutStored(
  records: TableReader<'records'>,
  experiment_id: string,
  points: readonly MetricPoint[],
  summaries: ReadonlyMap<string, MetricSummary>,
): Promise<readonly MetricPoint[]> {
  const greatest = new Map<string, MetricPoint>();
  const suspects: MetricPoint[] = [];
  let isRising = true;
  for (const point of points) {
    const before = greatest.get(point.name);
    if (before !== undefined && comparePoints(point, before) <= 0) isRising = false;
    else greatest.set(point.name, point);
    const summary = summaries.get(point.name);
    if (summary !== undefined && !isAfter(point, summary)) suspects.push(point);
  }
  if (isRising && suspects.length === 0) return points;
  const stored = await findStored(records, experiment_id, suspects);
  return [...new Map(points.map((point) => [identity(point), point]))]
    .filter(([id]) => !stored.has(id))
    .map(([, point]) => point);
}

/** Identities of those of the points that are stored already. */
async function findStored(
  records: TableReader<'records'>,
  experiment_id: string,
  points: readonly MetricPoint[],
): Promise<Set<string>> {
  const suspects = new Set(points.map(identity));
  const stored = new Set<string>();
  if (suspects.size === 0) return stored;
  const names = new Set(points.map(({ name }) => name));
  for await (const { runs } of readRuns(records, experiment_id, names)) {
    for (const { name, steps, times, values } of runs) {
      for (const [index, value] of values.entries()) {
        const step = steps[index] ?? Number.NaN;
        const time = times[index] ?? 0;
        const id = identity({ name, value, step: Number.isNaN(step) ? null : step, time });
        if (suspects.has(id)) stored.add(id);
      }
    }
    if (stored.size === suspects.size) return stored;
  }
  return stored;
}

const identity = ({ name, value, step, time }: MetricPoint): string =>
  JSON.stringify([name, storedNumber(value), step, time]);

/** The points in groups that a chunk takes, of at most so many each. */
export function chunksOf(points: readonly MetricPoint[], most = Number.POSITIVE_INFINITY): MetricPoint[][] {
  const chunks: MetricPoint[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  // A chunk holds each name once.
  const names = new Set<string>();
  const bytesOf = (name: string): number =>
    names.has(name) ? numbersBytes : numbersBytes + Buffer.byteLength(JSON.stringify(name));
  for (const point of points) {
    if (bytes + bytesOf(point.name) > chunkBytes || chunks.at(-1)?.length === most) {
      chunks.push([]);
      names.clear();
      bytes = 0;
    }
    bytes += bytesOf(point.name);
    names.add(point.name);
    chunks.at(-1)?.push(point);
  }
  return chunks;
}

/** Bytes that the numbers of one point take in a chunk. */
const numbersBytes = 32;

/** Most bytes of a chunk before compression. An item holds at most 400 KB. */
const chunkBytes = 250_000;

/** The lease of points that no job writes. */
const clientLease = 0;

const gone = new WriteLabel('existence of the experiment');

/** What is read of an experiment before points are added to it. */
export type PointsRead = Awaited<ReturnType<typeof readBeforePoints>>;
