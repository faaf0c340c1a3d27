import * as z from 'zod';
import { Timestamp } from '../../core/formats.ts';
import type { Filter } from '../../search/parse-filter.ts';
import type { OrderTerm } from '../../search/row-order.ts';
import { type JobStatus, jobStatuses } from '../jobs/job-status.ts';
import type { ExperimentRow } from './experiment-row.ts';

/**
 * Return which segments of a catalogue a page of a search needs, by the statuses that its filter lets through and the time by which it
 * is ordered. So what runs, what has failed and what has ended last is found without all the others. Return undefined if the
 * page may need every segment.
 */
export function segmentChoice({ filter, order_by, limit }: Searched): SegmentChoice | undefined {
  const names = [...filter.names, ...order_by.map(({ name }) => name)];
  // The names of users and the best values are looked up for all rows, and a key of a group must be that of some row.
  if (names.some(({ attribute }) => attribute === undefined || lookedUp.has(attribute))) return undefined;
  const tests = filter.parts.filter(
    ({ names: compared = [] }) => compared.length > 0 && compared.every(isStatus),
  );
  const statuses = jobStatuses.filter((status) =>
    tests.every(({ matches }) => matches({ status } as ExperimentRow)),
  );
  const [term, another] = order_by;
  const time = times.find((name) => name === term?.name.attribute);
  const isNewestFirst = term?.descending === true && another === undefined && Number.isFinite(limit);
  if (time !== undefined && isNewestFirst) return new SegmentChoice(statuses, { time, limit, filter });
  return statuses.length === jobStatuses.length ? undefined : new SegmentChoice(statuses);
}

interface Searched {
  filter: Filter<ExperimentRow>;
  order_by: readonly OrderTerm<ExperimentRow>[];
  limit: number;
}

const lookedUp = new Set(['user', 'best']);
const isStatus = ({ attribute }: { attribute?: string }): boolean => attribute === 'status';
const times = ['created_at', 'stopped_at'] as const;

/** Newest times of the rows of a segment, by status. */
export const NewestTimes = z.record(
  z.string(),
  z.object({ created_at: Timestamp, stopped_at: Timestamp.nullable() }),
);
export type NewestTimes = z.infer<typeof NewestTimes>;

export function newestTimes(
  rows: readonly Pick<ExperimentRow, 'status' | 'created_at' | 'stopped_at'>[],
): NewestTimes {
  const newest: NewestTimes = {};
  for (const { status, created_at, stopped_at } of rows) {
    const known = newest[status];
    newest[status] = {
      created_at:
        known === undefined || isLater(created_at, known.created_at) ? created_at : known.created_at,
      stopped_at: isLater(stopped_at, known?.stopped_at ?? null) ? stopped_at : (known?.stopped_at ?? null),
    };
  }
  return newest;
}

/** Return the newest of several newest times, or undefined if some are unknown. */
export function newestOfAll(all: readonly (NewestTimes | undefined)[]): NewestTimes | undefined {
  const newest: NewestTimes = {};
  for (const times of all) {
    if (times === undefined) return undefined;
    for (const [status, { created_at, stopped_at }] of Object.entries(times)) {
      const known = newest[status] ?? { created_at, stopped_at };
      newest[status] = {
        created_at: isLater(created_at, known.created_at) ? created_at : known.created_at,
        stopped_at: isLater(stopped_at, known.stopped_at) ? stopped_at : known.stopped_at,
      };
    }
  }
  return newest;
}

const isLater = (time: string | null, other: string | null): boolean => timeOf(time) > timeOf(other);
const timeOf = (time: string | null): number => (time === null ? Number.NEGATIVE_INFINITY : Date.parse(time));

/** Choice of the segments for one page of a search. */
export class SegmentChoice {
  readonly #statuses: readonly JobStatus[];
  readonly #page: Page | undefined;

  constructor(statuses: readonly JobStatus[], page?: Page) {
    this.#statuses = statuses;
    this.#page = page;
  }

  /**
   * Return the newest time of the rows of a segment that may be on the page: infinity if it is unknown, or does not matter, and
   * undefined if there are none.
   */
  newest(times: NewestTimes | undefined): number | undefined {
    if (times === undefined) return Number.POSITIVE_INFINITY;
    const known = this.#statuses.flatMap((status) => times[status] ?? []);
    if (known.length === 0) return undefined;
    const { time } = this.#page ?? {};
    if (time === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(...known.map((latest) => timeOf(latest[time])));
  }

  /** Return the experiments that may be on the page by their status, and the others. */
  divide<T extends { status: JobStatus }>(experiments: readonly T[]): [T[], T[]] {
    const may = ({ status }: T) => this.#statuses.includes(status);
    return [experiments.filter(may), experiments.filter((experiment) => !may(experiment))];
  }

  /** Return the times of the rows that match, for {@link isFull}. */
  timesOf(rows: readonly ExperimentRow[]): number[] {
    if (this.#page === undefined) return [];
    const { filter, time } = this.#page;
    return rows.flatMap((row) => (filter.matches(row) ? [timeOf(row[time])] : []));
  }

  /** Whether rows with these times fill the page, and tell that another one follows, whatever segments with older rows have. */
  isFull(matched: readonly number[], newest: number): boolean {
    return this.#page !== undefined && matched.filter((time) => time > newest).length > this.#page.limit;
  }
}

/** A page of what is ordered by a time, newest first. */
interface Page {
  time: (typeof times)[number];
  limit: number;
  filter: Filter<ExperimentRow>;
}
