import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import type { WatchedList } from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Item, Key, TableReader, Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { UnfinishedJob } from './job.ts';

const line = recordType('waiting-line', () =>
  z.object({
    line_id: z.string(),
    user_id: Ulid,
    kind: z.enum(['vcpus', 'cluster']),
    /** Number of jobs in the line. */
    waiting: z.number().int(),
    /** Lowest ticket that can still be in the line. */
    first: z.number().int(),
    /** Ticket of the next job that joins. */
    next: z.number().int(),
    /** Ranges of tickets above `first` that have left, in ascending order. Each has its first and last ticket. */
    gaps: z.array(z.tuple([z.number().int(), z.number().int()])),
    /** Time of the line's last turn, or of its creation, in epoch milliseconds. */
    turn: z.number().int(),
    /** Sort key of its row in the list of lines. */
    row: z.string(),
    /** Number of jobs that left and of moves of its row. Writes use it to detect changes. */
    changes: z.number().int(),
  }),
);
/** A line in which at least one job waits. */
export type WaitingLine = z.infer<typeof line.schema>;

export type LineKind = 'vcpus' | 'cluster';

const waitingJob = recordType('waiting-job', () =>
  z.object({ ticket: z.number().int(), job: UnfinishedJob() }),
);
export type WaitingJob = z.infer<typeof waitingJob.schema>;

export interface LineRow {
  line_id: string;
  sk: string;
}

/** List of lines that are not empty. */
export const waitingLines: WatchedList<'records'> = { table: 'records', partitions: ['WAITING_LINES'] };

/** Return the id of the line in which a job waits. */
export const lineOf = ({ user_id, cluster_owner }: Owned): string =>
  cluster_owner === null ? user_id : `${user_id}#CLUSTER`;

type Owned = Pick<UnfinishedJob, 'user_id' | 'cluster_owner'>;

/** Return the ids of all lines of a user. */
export const linesOf = (user_id: string): string[] => [
  lineOf({ user_id, cluster_owner: null }),
  lineOf({ user_id, cluster_owner: user_id }),
];

export const lineKey = (line_id: string): Key => ({ pk: linePartition(line_id), sk: 'LINE' });

const linePartition = (line_id: string): string => `LINE#${line_id}`;

/** Whether a line waits for the end of a job of its user. */
export const waitsForOwn = ({ row }: WaitingLine): boolean => row.startsWith(ownPrefix);

const ownPrefix = 'OWN#';

/** Label of writes that fail if a line has changed since it was read. */
export const changedLine = new WriteLabel('waiting queue');

export const findLine = (records: Records, line_id: string): Promise<WaitingLine | undefined> =>
  line.find(records, lineKey(line_id));

type Records = TableReader<'records'>;

export const parseLine = (item: Item | undefined): WaitingLine | undefined => item && line.parse(item);

/** Return the job at the front of a line. */
export async function frontOf(records: Records, line_id: string): Promise<WaitingJob | undefined> {
  const query = { pk: linePartition(line_id), prefix: jobPrefix, limit: 1 };
  const [item] = (await records.query(query)).items;
  return item && waitingJob.parse(item);
}

const jobPrefix = 'JOB#';

/** Return the lines whose turn comes first: at most one of each kind, the longest waiting first. */
export async function readyHeads(records: Records): Promise<(LineRow & { kind: LineKind })[]> {
  const head = async (kind: LineKind) => {
    const { items } = await records.query({ pk: linesPartition, prefix: kindPrefix(kind), limit: 1 });
    return items.map((item) => ({ ...lineRow.parse(item), sk: item.sk, kind }));
  };
  const heads = await Promise.all([head('vcpus'), head('cluster')]);
  const turnOf = ({ sk }: LineRow): string => sk.split('#')[2] ?? '';
  return heads.flat().toSorted((a, b) => (turnOf(a) < turnOf(b) ? -1 : 1));
}

const [linesPartition] = waitingLines.partitions;

const kindPrefix = (kind: LineKind): string => `${readyPrefix}${kind.toUpperCase()}#`;

const readyPrefix = 'READY#';

const lineRow = recordType('line-row', () => z.object({ line_id: z.string() }));

/** Whether any line waits for vCPUs or the cluster. */
export async function isAnyReady(records: Records): Promise<boolean> {
  return (await records.query({ pk: linesPartition, prefix: readyPrefix, limit: 1 })).items.length > 0;
}

/** Return a page of the lines that wait for the end of a job of their user. */
export async function listOwnWaits(records: Records, after: string | undefined) {
  const page = await records.query({ pk: linesPartition, prefix: ownPrefix, after, limit: 100 });
  return { line_ids: page.items.map(({ sk }) => sk.slice(ownPrefix.length)), next: page.next };
}

/** Build the write that fails if a job would overtake the jobs of its line. */
export const lineIsEmpty = (job: Owned): Write => ({ check: lineKey(lineOf(job)), if: { exists: false } });

/** Return the ticket of a new job at the end of a line. */
export const nextTicket = (found: WaitingLine | undefined): number => found?.next ?? 1;

/** Build the writes that put a job at the end of its line. They fail if another job was faster. */
export function joinLine(job: UnfinishedJob, found: WaitingLine | undefined, now: Date): Write[] {
  const line_id = lineOf(job);
  const ticket = nextTicket(found);
  const put: Write = { put: waitingJob.item(jobKey(line_id, ticket), { ticket, job }) };
  if (found !== undefined) {
    const change = { add: { waiting: 1, next: 1 } };
    return [put, changedLine.on({ update: lineKey(line_id), change, if: { equals: { next: found.next } } })];
  }
  const turn = now.getTime();
  const kind = kindOf(job);
  const row = readyRow({ kind, turn, line_id });
  const counts = { waiting: 1, first: ticket, next: ticket + 1, gaps: [], changes: 0 };
  const made = line.item(lineKey(line_id), { line_id, user_id: job.user_id, kind, turn, row, ...counts });
  return [
    put,
    changedLine.on({ put: made, if: { exists: false } }),
    { put: lineRow.item(rowKey(row), { line_id }) },
  ];
}

const jobKey = (line_id: string, ticket: number): Key => ({
  pk: linePartition(line_id),
  sk: `${jobPrefix}${String(ticket).padStart(ticketDigits, '0')}`,
});

const ticketDigits = 12;

const kindOf = ({ cluster_owner }: Owned): LineKind => (cluster_owner === null ? 'vcpus' : 'cluster');

const readyRow = ({ kind, turn, line_id }: Pick<WaitingLine, 'kind' | 'turn' | 'line_id'>): string =>
  `${kindPrefix(kind)}${String(turn).padStart(15, '0')}#${line_id}`;

const rowKey = (sk: string): Key => ({ pk: linesPartition, sk });

/**
 * Build the writes that remove one or more jobs from a line. They fail if the line has changed. With `turn`, the
 * line has had its turn.
 */
export function leaveLine(
  found: WaitingLine,
  ticket: number | readonly number[],
  turn = found.turn,
): Write[] {
  const key = lineKey(found.line_id);
  const tickets = typeof ticket === 'number' ? [ticket] : ticket;
  const remove = tickets.map((one): Write => ({ delete: jobKey(found.line_id, one) }));
  const { changes, next, waiting } = found;
  if (waiting <= tickets.length)
    return [
      ...remove,
      changedLine.on({ delete: key, if: { equals: { changes, next } } }),
      { delete: rowKey(found.row) },
    ];
  const row = waitsForOwn(found) ? found.row : readyRow({ ...found, turn });
  const left = { waiting: -tickets.length, changes: 1 };
  const change = { set: { ...without(found, tickets), turn, row }, add: left };
  return [
    ...remove,
    changedLine.on({ update: key, change, if: { equals: { changes } } }),
    ...moveRow(found, row),
  ];
}

/** Return `first` and `gaps` after these tickets have left. */
function without(
  { first, gaps }: WaitingLine,
  tickets: readonly number[],
): Pick<WaitingLine, 'first' | 'gaps'> {
  const left: [number, number][] = [];
  const leaving = tickets.map((ticket) => [ticket, ticket] as const);
  for (const [from, to] of [...gaps, ...leaving].toSorted(([one], [other]) => one - other)) {
    const last = left.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else left.push([from, to]);
  }
  const [lowest] = left;
  if (lowest !== undefined && lowest[0] <= first) return { first: lowest[1] + 1, gaps: left.slice(1) };
  return { first, gaps: left.slice(0, maxGaps) };
}

/*
 * Jobs that wait for a place stand in a line. Each user has two lines: one for clusters and one for all other
 * jobs, because these wait for different things. A ticket gives the position of a job in its line. WAITING_LINES
 * has one row for each line that is not empty. The sort key of the row tells the reason of the wait. `OWN#…` waits
 * for the end of a job of its user. `READY#…` waits for vCPUs or the cluster, in the order of turns. So the
 * service reads one row to give a free place away, independent of the number of waiting jobs.
 */

/** Maximum number of `gaps` that a line stores. Beyond it, the reported positions are too high. */
const maxGaps = 2000;

/** Build the writes that move a line's row. Return none if it stays. */
function moveRow({ line_id, row }: WaitingLine, to: string): Write[] {
  if (row === to) return [];
  return [{ delete: rowKey(row) }, { put: lineRow.item(rowKey(to), { line_id }) }];
}

/**
 * Build the writes that let a line wait for the end of a job of its user (`own`) or for its turn. Return none if
 * it already does.
 */
export function waitFor(found: WaitingLine, what: 'own' | 'turn'): Write[] {
  const row = what === 'own' ? ownRow(found) : readyRow(found);
  if (row === found.row) return [];
  const change = { set: { row }, add: { changes: 1 } };
  const unmoved = { equals: { changes: found.changes } };
  return [changedLine.on({ update: lineKey(found.line_id), change, if: unmoved }), ...moveRow(found, row)];
}

const ownRow = ({ line_id }: WaitingLine): string => `${ownPrefix}${line_id}`;

/** Build the write that removes the row of an empty line. Only a manual delete of items leaves such a row. */
export const removeRow = ({ sk }: LineRow): Write => ({ delete: rowKey(sk) });

/** Return the position of a ticket in its line, from 1. */
export function positionOf({ first, gaps }: WaitingLine, ticket: number): number {
  const left = gaps.reduce(
    (sum, [from, to]) => (from < ticket ? sum + Math.min(to, ticket) - from + 1 : sum),
    0,
  );
  return Math.max(1, ticket - first + 1 - left);
}
