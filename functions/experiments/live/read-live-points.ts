import { createHash } from 'node:crypto';
import type * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { experimentKey } from '../../../shared/data/experiments/experiment.ts';
import { jobPartition } from '../../../shared/data/jobs/job.ts';
import { isUnwatched, leaseKey, noteWatched } from '../../../shared/data/jobs/lease.ts';
import { countPoints, readRuns } from '../../../shared/data/metrics/metric-history.ts';
import { firstPartKey } from '../../../shared/data/metrics/metric-summaries.ts';
import { itemName } from '../../../shared/data/table/item.ts';
import { RecentValues } from '../../../shared/data/table/recent-values.ts';
import type { Item, Key, TableReader, TableWriter } from '../../../shared/data/table/table.ts';
import { inOrder } from '../../../shared/experiments/read-points.ts';
import type { Patience } from '../../../shared/http/definition/endpoint-context.ts';
import { isSystemMetric } from '../../../shared/metrics/system-metric.ts';
import { PointAnswer, showPoint } from '../metrics/point-answer.ts';
import { awaitNews, changesOf, type Mark, type News } from './await-news.ts';

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
export const pointPositionText = ({ answered_at, cells }: PointPosition): string =>
  `${answered_at}!${cells.map(({ count, sign }) => `${count.toString(36)}.${sign}`).join('!')}`;

/** Parse a position of so many experiments; undefined for another text. */
export function parsePointPosition(text: string, experiments: number): PointPosition | undefined {
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
  const unwatched = signs.runs.filter(({ isKnown, lease }) => isKnown && isUnwatched(lease, time.getTime()));
  await Promise.all(unwatched.map(({ id }) => noteWatched(records, id, 0, time)));
  if (position === undefined) {
    const cells = await Promise.all(
      signs.runs.map(async ({ id, sign, isKnown }) => ({
        count: isKnown ? await countPoints(records, id) : 0,
        sign,
      })),
    );
    const { gone, isPolled } = signs;
    return { points: [], gone, cells, isMore: false, news: 'none', hasWaited: false, isPolled };
  }
  const look = async () => pointsBehind(records, position, await mark());
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
  runs: { id: string; sign: string; isKnown: boolean; lease: Item | undefined }[];
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
    const runs = ids.map((id, index) => {
      const [experiment, summary, lease] = items.slice(index * 3, index * 3 + 3);
      return { id, sign: signOf([summary, lease]), isKnown: experiment !== undefined, lease };
    });
    return {
      at,
      text: runs.map(({ sign, isKnown }) => `${sign}${isKnown}`).join(),
      runs,
      gone: runs.filter(({ isKnown }) => !isKnown).map(({ id }) => id),
      isPolled: runs.some(({ lease }) => lease !== undefined),
    };
  });
}

const signOf = (items: readonly (Item | undefined)[]): string =>
  createHash('sha256').update(changesOf(items)).digest('base64url').slice(0, 4);

/** Points of an answer. With names of 250 characters, they are 4 MB. */
const maxPoints = 8_000;

/** Read the points behind a position: those of an experiment together, the experiments in the order of the request. */
async function pointsBehind(
  records: TableReader<'records'>,
  position: PointPosition,
  { runs, gone }: Signs,
): Promise<LivePoints> {
  const lists: LivePoints['points'][] = runs.map(() => []);
  let room = maxPoints;
  let isMore = false;
  const read = async ({ id, sign, isKnown }: Signs['runs'][number], index: number): Promise<Cell> => {
    const cell = position.cells[index] ?? { count: 0, sign: '' };
    if (!isKnown || sign === cell.sign) return cell;
    let { count } = cell;
    for await (const group of readRuns(records, id, undefined, count)) {
      for (const { number, point } of inOrder(group.runs)) {
        if (room === 0) {
          isMore = true;
          return { count: number, sign: cell.sign };
        }
        room -= 1;
        lists[index]?.push({ experiment_id: id, ...showPoint(point) });
      }
      count = group.end;
    }
    return { count, sign };
  };
  const cells: Cell[] = [];
  for (let from = 0; from < runs.length; from += readAtOnce)
    cells.push(
      ...(await Promise.all(runs.slice(from, from + readAtOnce).map((run, at) => read(run, from + at)))),
    );
  const points = lists.flat();
  const isPrompt = isMore || points.some(({ name }) => !isSystemMetric(name));
  return { points, gone, cells, isMore, news: isPrompt ? 'prompt' : points.length > 0 ? 'slow' : 'none' };
}

/** Experiments whose points are read in parallel. */
const readAtOnce = 16;
