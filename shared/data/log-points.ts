import { notFound, ServiceError } from '../core/service-error.ts';
import { markChanged } from './catalogue-mark.ts';
import { type Experiment, experimentExists } from './experiment.ts';
import { type MetricPoint, metricChunk } from './job-metrics.ts';
import { readRuns } from './metric-history.ts';
import {
  allSummaries,
  metricNamesMost,
  putMetricPart,
  readMetricParts,
  withPoints,
} from './metric-summaries.ts';
import { isAfter, type MetricSummary } from './metric-summary.ts';
import { chunksPerGroup, compactPoints } from './point-blocks.ts';
import { retryOnConflict } from './retry-on-conflict.ts';
import { storedNumber } from './stored-number.ts';
import type { TableReader, TableWriter } from './table.ts';
import { WriteLabel } from './write-label.ts';

const gone = new WriteLabel('existence of the experiment');

/** Points of an experiment that no job writes. */
const clientLease = 0;

/** Most bytes of JSON in a chunk, an item that takes 400 KB and may not compress. */
const chunkBytes = 250_000;

type ExperimentKey = Pick<Experiment, 'project_id' | 'experiment_id'>;

const identity = ({ name, value, step, time }: MetricPoint): string =>
  JSON.stringify([name, storedNumber(value), step, time]);

/**
 * Those of the points that are stored already. A point that is greater than all of its metric, as nearly every one is,
 * cannot be; only for the others the points are read.
 */
async function findStored(
  records: TableReader<'records'>,
  experiment_id: string,
  points: readonly MetricPoint[],
  summaries: ReadonlyMap<string, MetricSummary>,
): Promise<Set<string>> {
  const suspects = new Set(
    points
      .filter((point) => {
        const summary = summaries.get(point.name);
        return summary !== undefined && !isAfter(point, summary);
      })
      .map(identity),
  );
  const stored = new Set<string>();
  if (suspects.size === 0) return stored;
  const names = new Set(points.map(({ name }) => name));
  for await (const { runs } of readRuns(records, experiment_id, names)) {
    for (const { name, steps, times, values } of runs) {
      for (const [index, value] of values.entries()) {
        const step = steps[index] ?? Number.NaN;
        const time = new Date(times[index] ?? 0).toISOString();
        const id = identity({ name, value, step: Number.isNaN(step) ? null : step, time });
        if (suspects.has(id)) stored.add(id);
      }
    }
    if (stored.size === suspects.size) return stored;
  }
  return stored;
}

/** Those of the points that are not stored yet, each once. */
export async function withoutStored(
  records: TableReader<'records'>,
  experiment_id: string,
  points: readonly MetricPoint[],
  summaries: ReadonlyMap<string, MetricSummary>,
): Promise<MetricPoint[]> {
  const stored = await findStored(records, experiment_id, points, summaries);
  return [...new Map(points.map((point) => [identity(point), point]))]
    .filter(([id]) => !stored.has(id))
    .map(([, point]) => point);
}

/** The points in groups that a chunk takes, of at most so many each. */
export function chunksOf(points: readonly MetricPoint[], most = Number.POSITIVE_INFINITY): MetricPoint[][] {
  const chunks: MetricPoint[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const point of points) {
    const more = Buffer.byteLength(JSON.stringify(point)) + 20;
    if (bytes + more > chunkBytes || chunks.at(-1)?.length === most) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)?.push(point);
    bytes += more;
  }
  return chunks;
}

/** What is read of an experiment before points are added to it. */
export type PointsRead = Awaited<ReturnType<typeof readBeforePoints>>;

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
      const message = `An experiment has at most ${metricNamesMost} metrics, whose names take at most 1 MB together.`;
      throw new ServiceError('conflict', message);
    }
    const first = next.parts[0]?.next_chunk ?? 0;
    const chunks = await Promise.all(
      chunksOf(fresh).map((rows, index) => metricChunk(experiment_id, clientLease, first + index, rows)),
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
    await records.write(...writes).catch((error: unknown) => {
      throw gone.failedIn(error) ? notFound('experiment', experiment_id) : error;
    });
    const isGroup = Math.floor((first + chunks.length) / chunksPerGroup) > Math.floor(first / chunksPerGroup);
    // The points are stored: what goes wrong here is left to the next.
    if (isGroup) await compactPoints(records, experiment_id).catch(() => undefined);
    return fresh.length;
  });
}
