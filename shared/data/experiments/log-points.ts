import { notFound, ServiceError } from '../../core/service-error.ts';
import { judgeRules, type RuleProgress } from '../../run-rules/judge-rules.ts';
import { progressOf, withMet } from '../../run-rules/recorded-rule.ts';
import { metReason } from '../../run-rules/rule-text.ts';
import { noticeWrites } from '../hooks/notice.ts';
import { isFinal, rankOf } from '../jobs/job-status.ts';
import { metricChunk } from '../metrics/job-metrics.ts';
import { readRuns } from '../metrics/metric-history.ts';
import {
  allSummaries,
  type MetricParts,
  putMetricPart,
  readMetricParts,
  withPoints,
} from '../metrics/metric-summaries.ts';
import { comparePoints, isAfter, type MetricPoint, type MetricSummary } from '../metrics/metric-summary.ts';
import { chunksPerGroup, compactPoints } from '../metrics/point-blocks.ts';
import { noteFirstCriterion } from '../projects/inferred-criterion.ts';
import { count, projectExists } from '../projects/project.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import { storedNumber } from '../table/stored-number.ts';
import type { TableReader, TableWriter, Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { markChanged } from './catalogue-mark.ts';
import { type Experiment, experimentExists, experimentKey, requireExperiment } from './experiment.ts';
import { maxMetricNames } from './tracking-rules.ts';

/**
 * Add the points of a client to an experiment and to the summary of its metrics, in one transaction. Skip points
 * that are already stored, so a retry changes nothing.
 * @param read returns the result of {@link readBeforePoints} if that has already begun; an outdated result costs
 * another call
 * @param now the time at which the rules of the experiment are judged
 * @returns the number of new points
 * @throws ServiceError `conflict` if the experiment would have too many metric names
 * @throws ServiceError `not-found` if the experiment is gone
 */
export function logPoints(
  records: TableWriter<'records'>,
  { project_id, experiment_id, rules }: ExperimentKey,
  points: readonly MetricPoint[],
  read = () => readBeforePoints(records, { project_id, experiment_id }),
  now = () => new Date(),
): Promise<number> {
  return retryOnConflict(async () => {
    const [{ parts, mark }, experiment] = await Promise.all([
      read(),
      rules === undefined ? undefined : requireExperiment(records, project_id, experiment_id),
    ]);
    const fresh = await withoutStored(records, experiment_id, points, allSummaries(parts));
    if (fresh.length === 0) return 0;
    const added = addedPoints({ project_id, experiment_id }, parts, fresh);
    const judged = experiment === undefined ? [] : await judgeLogged(records, experiment, fresh, now());
    const writes = [
      mark.write,
      ...judged,
      // One transaction touches each row once.
      ...(mark.exists || judged.length > 0 ? [] : [gone.on(experimentExists(project_id, experiment_id))]),
      ...added.writes,
    ];
    // The criterion can only change if a run reports a new metric.
    if (added.hasNew)
      await noteFirstCriterion(
        records,
        { project_id, experiment_id },
        added.metrics.keys(),
        experimentExists(project_id, experiment_id),
      );
    await records.write(...writes).catch((error: unknown) => {
      throw gone.failedIn(error) ? notFound('experiment', experiment_id) : error;
    });
    const [from, to] = added.chunks.map((chunk) => Math.floor(chunk / chunksPerGroup));
    // The points are already stored, so ignore errors here. A later call retries.
    if (from !== to) await compactPoints(records, experiment_id).catch(() => undefined);
    return fresh.length;
  });
}

type ExperimentKey = Pick<Experiment, 'project_id' | 'experiment_id' | 'rules'>;

/**
 * Judge the rules of an experiment that a client records by points that are stored next. Return the writes of the same
 * transaction: the progress of the rules, what is met, and what hooks are told. They fail if the experiment has changed.
 *
 * The service cannot end a program that runs elsewhere, so a rule that stops makes the experiment CANCELLED.
 */
async function judgeLogged(
  records: TableReader<'records'>,
  experiment: Experiment,
  points: readonly MetricPoint[],
  now: Date,
): Promise<Write[]> {
  const { project_id, experiment_id: subject, version, rules = [] } = experiment;
  if (rules.length === 0 || isFinal(experiment.status)) return [];
  const { progress, met } = judgeRules(
    rules.map(({ rule }) => rule),
    experiment.rule_progress === undefined
      ? progressOf(rules, now.getTime())
      : (JSON.parse(experiment.rule_progress) as RuleProgress),
    { now: now.getTime(), points },
  );
  const told: Write[] = [];
  let stopped: string | undefined;
  for (const { index, reason } of met) {
    const rule = rules[index]?.rule;
    if (rule === undefined) continue;
    const sentence = metReason(rule, reason);
    if (rule.do === 'stop') stopped ??= sentence;
    else {
      const facts = { reason: sentence, rule };
      told.push(...(await noticeWrites(records, { type: 'metric.rule', project_id, subject, facts }, now)));
    }
  }
  if (stopped !== undefined)
    told.push(...(await noticeWrites(records, { type: 'experiment.stopped', project_id, subject }, now)));
  const set = {
    rule_progress: JSON.stringify(progress),
    ...(met.length > 0 && { rules: withMet(rules, met, now) }),
    ...(stopped !== undefined && {
      status: 'CANCELLED',
      status_rank: rankOf('CANCELLED'),
      status_reason: stopped,
      stopped_at: now.toISOString(),
    }),
  };
  return [
    {
      update: experimentKey(project_id, subject),
      change: { set, ...(met.length > 0 && { add: { version: 1 } }) },
      if: { equals: { version } },
    },
    ...(stopped === undefined ? [] : [count(project_id, { logged_changes: 1 })]),
    ...told,
  ];
}

/**
 * Build the writes of the first points of an experiment without rules, for the transaction that records it.
 * @returns also the summaries of its metrics
 * @throws ServiceError `conflict` if the experiment would have too many metric names
 */
export async function firstPoints(
  records: TableWriter<'records'>,
  key: { project_id: string; experiment_id: string },
  points: readonly MetricPoint[],
): Promise<{ writes: Write[]; metrics: ReadonlyMap<string, MetricSummary> }> {
  const added = addedPoints(key, [], await withoutStored(records, key.experiment_id, points, new Map()));
  await noteFirstCriterion(records, key, added.metrics.keys(), projectExists(key.project_id));
  return added;
}

/** Build the writes that add new points to an experiment, and to the summaries of its metrics. */
function addedPoints(
  { project_id, experiment_id }: { project_id: string; experiment_id: string },
  parts: MetricParts,
  fresh: readonly MetricPoint[],
) {
  const next = withPoints(parts, fresh);
  if (next.omitted.size > 0) {
    const message = `An experiment may have at most ${maxMetricNames} metrics, with names of at most 1 MB together.`;
    throw new ServiceError('conflict', message);
  }
  const first = next.parts[0]?.next_chunk ?? 0;
  const chunks = chunksOf(fresh).map((rows, index) =>
    metricChunk(experiment_id, clientLease, first + index, rows),
  );
  // The first part counts the chunks, so every write includes it.
  const written = new Set([0, ...next.changed]);
  const writes: Write[] = [
    ...chunks.map((put) => ({ put, if: { exists: false } })),
    ...next.parts.flatMap((part, index) => {
      if (!written.has(index)) return [];
      const previous = { part: parts[index] };
      const version = (previous.part?.version ?? 0) + 1;
      const value = index === 0 ? { ...part, next_chunk: first + chunks.length, version } : part;
      return [putMetricPart(project_id, experiment_id, index, value, previous)];
    }),
  ];
  return {
    writes,
    metrics: allSummaries(next.parts),
    hasNew: next.hasNew,
    /** Numbers of the first new chunk, and of the one that follows them. */
    chunks: [first, first + chunks.length],
  };
}

export async function readBeforePoints(
  records: TableReader<'records'>,
  { project_id, experiment_id }: Pick<ExperimentKey, 'project_id' | 'experiment_id'>,
) {
  const [parts, mark] = await Promise.all([
    readMetricParts(records, project_id, experiment_id),
    markChanged(records, project_id, experiment_id),
  ]);
  return { parts, mark };
}

/**
 * Return the points that are not stored yet, without duplicates. A point greater than all points of its metric
 * cannot be a duplicate, and nearly all points are. Only for the others, read and compare the stored points.
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

/** Return the identities of the points that are already stored. */
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

/** Split points into groups that fit into a chunk, each with at most `most` points. */
export function chunksOf(points: readonly MetricPoint[], most = Number.POSITIVE_INFINITY): MetricPoint[][] {
  const chunks: MetricPoint[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  // A chunk stores each name only once.
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

/** Bytes of one point's numbers in a chunk. */
const numbersBytes = 32;

/** Maximum bytes of a chunk before compression. An item holds at most 400 KB. */
const chunkBytes = 250_000;

/** Lease number of points that no job writes. */
const clientLease = 0;

const gone = new WriteLabel('existence of the experiment');

/** Result of {@link readBeforePoints}. */
export type PointsRead = Awaited<ReturnType<typeof readBeforePoints>>;
