import { createHash } from 'node:crypto';
import type * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { experimentKey } from '../../../shared/data/experiments/experiment.ts';
import { jobPartition } from '../../../shared/data/jobs/job.ts';
import { isUnwatched, leaseKey, noteWatched } from '../../../shared/data/jobs/lease.ts';
import { countPoints, readRuns } from '../../../shared/data/metrics/metric-history.ts';
import { firstPartKey } from '../../../shared/data/metrics/metric-summaries.ts';
import type { MetricPoint } from '../../../shared/data/metrics/metric-summary.ts';
import type { PointRun } from '../../../shared/data/metrics/point-blocks.ts';
import { itemName } from '../../../shared/data/table/item.ts';
import { RecentValues } from '../../../shared/data/table/recent-values.ts';
import type { Item, Key, TableReader, TableWriter } from '../../../shared/data/table/table.ts';
import type { Patience } from '../../../shared/http/definition/endpoint-context.ts';
import { isSystemMetric } from '../../../shared/metrics/system-metric.ts';
import { PointAnswer, showPoint } from '../metrics/point-answer.ts';
import { awaitNews, type Mark, type News } from './await-news.ts';

/** What a client has of the points of experiments: how many of each, and a sign that changes with more. */
export interface PointPosition {
  /** Time of the answer, in epoch milliseconds. */
  answered_at: number;
  cells: readonly Cell[];
}

interface Cell {
  count: number;
  sign: string;
}

/** The cells of 50 experiments must fit into a cursor, of at most 1,000 bytes. */
export const positionText = ({ answered_at, cells }: PointPosition): string =>
  `${answered_at}!${cells.map(({ count, sign }) => `${count.toString(36)}.${sign}`).join('!')}`;

/** Parse a position of so many experiments; undefined for another text. */
export function parsePosition(text: string, experiments: number): PointPosition | undefined {
  const [time = '', ...cells] = text.split('!');
  if (!/^\d{1,15}$/.test(time) || cells.length !== experiments) return undefined;
  const parsed = cells.flatMap((cell) => {
    const [, count, sign = ''] = /^([\da-z]{1,10})\.([\w-]{4})$/.exec(cell) ?? [];
    return count === undefined ? [] : [{ count: Number.parseInt(count, 36), sign }];
  });
  return parsed.length === experiments ? { answered_at: Number(time), cells: parsed } : undefined;
}

/** New points of experiments, and the position after them. */
interface LivePoints {
  points: z.input<typeof LivePoint>[];
  /** Ids of those that were deleted. */
  gone: string[];
  cells: readonly Cell[];
  /** Whether more points wait than an answer has room for. */
  isMore: boolean;
  news: News;
}

/** A point with its experiment. */
export const LivePoint = PointAnswer.extend({ experiment_id: Ulid });

/**
 * Return the points of experiments behind a position; wait for some if the caller may. Without a position there are none,
 * and the position is the end.
 * @returns also whether the service has waited
 */
export async function readLivePoints(
  {
    records,
    patience,
    now,
  }: { records: TableWriter<'records'>; patience: Patience | undefined; now(): Date },
  project_id: string,
  ids: readonly string[],
  position: PointPosition | undefined,
): Promise<LivePoints & { hasWaited: boolean; isPolled: boolean }> {
  const mark = () => readSigns(records, project_id, ids);
  const signs = await mark();
  const time = now();
  for (const [index, { isKnown, lease }] of signs.runs.entries())
    if (isKnown && isUnwatched(lease, time.getTime())) await noteWatched(records, ids[index] ?? '', 0, time);
  if (position === undefined) {
    const cells = await Promise.all(
      signs.runs.map(async ({ sign, isKnown }, at) => ({
        count: isKnown ? await countPoints(records, ids[at] ?? '') : 0,
        sign,
      })),
    );
    const { gone, isPolled } = signs;
    return { points: [], gone, cells, isMore: false, news: 'none', hasWaited: false, isPolled };
  }
  const look = async () => pointsBehind(records, ids, position, await mark());
  const first = await look();
  const { isPolled } = signs;
  const sources = ids.flatMap((id) => [
    itemName(firstPartKey(project_id, id)),
    itemName(experimentKey(project_id, id)),
    jobPartition(id),
  ]);
  const waited =
    patience === undefined || first.isMore
      ? undefined
      : await awaitNews(patience, first, {
          sources,
          isPolled,
          known: signs,
          answered_at: position.answered_at,
          mark,
          look,
        });
  return { ...(waited ?? first), hasWaited: waited !== undefined, isPolled };
}

interface Signs extends Mark {
  runs: { sign: string; isKnown: boolean; lease: Item | undefined }[];
  gone: string[];
  /** Whether jobs write too, which are other processes. */
  isPolled: boolean;
}

const marks = new RecentValues<Signs>();

/** Read what changes with the points of experiments, once for all followers of the same ones. */
function readSigns(
  records: TableReader<'records'>,
  project_id: string,
  ids: readonly string[],
): Promise<Signs> {
  const keysOf = (id: string): Key[] => [
    experimentKey(project_id, id),
    firstPartKey(project_id, id),
    leaseKey(id, 0),
  ];
  const keys = ids.flatMap(keysOf);
  const sources = keys.map(itemName).concat(ids.map(jobPartition));
  return marks.get(records, `${project_id} ${ids.join()}`, sources, async () => {
    const at = performance.now();
    const items = await records.batchGet(keys);
    const runs = ids.map((_, index) => {
      const [experiment, summary, lease] = items.slice(index * 3, index * 3 + 3);
      return { sign: signOf([summary, lease]), isKnown: experiment !== undefined, lease };
    });
    return {
      at,
      text: runs.map(({ sign, isKnown }) => `${sign}${isKnown}`).join(),
      runs,
      gone: ids.filter((_, index) => runs[index]?.isKnown === false),
      isPolled: items.some((item, index) => index % 3 === 2 && item !== undefined),
    };
  });
}

const signOf = (items: readonly (Item | undefined)[]): string =>
  createHash('sha256')
    .update(JSON.stringify(items.map((item) => [item?.['version'], item?.['heartbeat_at']])))
    .digest('base64url')
    .slice(0, 4);

/** Points of an answer. With names of 250 characters, they are 4 MB. */
const maxPoints = 8_000;

async function pointsBehind(
  records: TableReader<'records'>,
  ids: readonly string[],
  position: PointPosition,
  { runs, gone }: Signs,
): Promise<LivePoints> {
  const points: LivePoints['points'] = [];
  let isMore = false;
  const read = async (id: string, index: number): Promise<Cell> => {
    const cell = position.cells[index] ?? { count: 0, sign: '' };
    const { sign, isKnown } = runs[index] ?? { sign: '', isKnown: false };
    if (!isKnown || sign === cell.sign) return cell;
    let { count } = cell;
    for await (const group of readRuns(records, id, undefined, count)) {
      if (points.length >= maxPoints) {
        isMore = true;
        return { count, sign: cell.sign };
      }
      const found = inOrder(group.runs);
      // A group may have 100,000 points.
      const shown = found.slice(0, maxPoints - points.length);
      for (const { point } of shown) points.push({ experiment_id: id, ...showPoint(point) });
      count = shown.length === found.length ? group.end : (found[shown.length]?.number ?? count);
      if (shown.length === found.length) continue;
      isMore = true;
      return { count, sign: cell.sign };
    }
    return { count, sign };
  };
  const cells: Cell[] = [];
  for (let from = 0; from < ids.length; from += readAtOnce)
    cells.push(
      ...(await Promise.all(ids.slice(from, from + readAtOnce).map((id, at) => read(id, from + at)))),
    );
  const isPrompt = isMore || points.some(({ name }) => !isSystemMetric(name));
  return { points, gone, cells, isMore, news: isPrompt ? 'prompt' : points.length > 0 ? 'slow' : 'none' };
}

/** Experiments whose points are read in parallel. */
const readAtOnce = 16;

/** Return points with their numbers in report order. */
function inOrder(runs: readonly PointRun[]): { number: number; point: MetricPoint }[] {
  return runs
    .flatMap(({ name, numbers, steps, times, values }) =>
      Array.from(numbers, (number, at) => {
        const step = steps[at] ?? Number.NaN;
        return {
          number,
          point: {
            name,
            step: Number.isNaN(step) ? null : step,
            time: times[at] ?? 0,
            value: values[at] ?? Number.NaN,
          },
        };
      }),
    )
    .sort((a, b) => a.number - b.number);
}
