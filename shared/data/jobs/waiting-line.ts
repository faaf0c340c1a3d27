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
    /** Jobs in the line. */
    waiting: z.number().int(),
    /** The lowest ticket that can still be in the line. */
    first: z.number().int(),
    /** Ticket of the next job. */
    next: z.number().int(),
    /** Ranges of tickets above `first` that have left: first and last ticket of each, in their order. */
    gaps: z.array(z.tuple([z.number().int(), z.number().int()])),
    /** Since when the line has not had its turn, in epoch milliseconds. */
    turn: z.number().int(),
    /** Sort key of its row in the list of lines. */
    row: z.string(),
    /** Jobs that left it and moves of its row, by which an unchanged line is known. */
    changes: z.number().int(),
  }),
);
/** A line in which a job waits at least. */
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

/** The list of lines that are not empty. */
export const waitingLines: WatchedList<'records'> = { table: 'records', partitions: ['WAITING_LINES'] };

/** Id of the line in which a job waits. */
export const lineOf = ({ user_id, cluster_owner }: Owned): string =>
  cluster_owner === null ? user_id : `${user_id}#CLUSTER`;

type Owned = Pick<UnfinishedJob, 'user_id' | 'cluster_owner'>;

/** Ids of all lines of a user. */
export const linesOf = (user_id: string): string[] => [
  lineOf({ user_id, cluster_owner: null }),
  lineOf({ user_id, cluster_owner: user_id }),
];

export const lineKey = (line_id: string): Key => ({ pk: linePartition(line_id), sk: 'LINE' });

const linePartition = (line_id: string): string => `LINE#${line_id}`;

/** Whether a line waits for the end of a job of its user. */
export const waitsForOwn = ({ row }: WaitingLine): boolean => row.startsWith(ownPrefix);

const ownPrefix = 'OWN#';

/** A line that was changed since it was read. */
export const changedLine = new WriteLabel('waiting line');

export async function findLine(records: Records, line_id: string): Promise<WaitingLine | undefined> {
  const item = await records.get(lineKey(line_id));
  return item && line.parse(item);
}

type Records = TableReader<'records'>;

export const parseLine = (item: Item | undefined): WaitingLine | undefined => item && line.parse(item);

/** The job at the front of a line. */
export async function frontOf(records: Records, line_id: string): Promise<WaitingJob | undefined> {
  const query = { pk: linePartition(line_id), prefix: jobPrefix, limit: 1 };
  const [item] = (await records.query(query)).items;
  return item && waitingJob.parse(item);
}

const jobPrefix = 'JOB#';

/** The lines whose turn comes first: one of each kind at most, the one that has waited longest first. */
export async function readyHeads(records: Records): Promise<(LineRow & { kind: LineKind })[]> {
  const head = async (kind: LineKind) => {
    const { items } = await records.query({ pk: linesPartition, prefix: kindPrefix(kind), limit: 1 });
    return items.map((item) => ({ ...lineRow.parse(item), sk: item.sk, kind }));
  };
  const heads = await Promise.all([head('vcpus'), head('cluster')]);
  const turnOf = ({ sk }: LineRow): string => sk.split('#')[2] ?? '';
  return heads.flat().toSorted((one, other) => (turnOf(one) < turnOf(other) ? -1 : 1));
}

const [linesPartition] = waitingLines.partitions;

const kindPrefix = (kind: LineKind): string => `${readyPrefix}${kind.toUpperCase()}#`;

const readyPrefix = 'READY#';

const lineRow = recordType('line-row', () => z.object({ line_id: z.string() }));

/** Whether any line waits for vCPUs or the cluster. */
export async function isAnyReady(records: Records): Promise<boolean> {
  return (await records.query({ pk: linesPartition, prefix: readyPrefix, limit: 1 })).items.length > 0;
}

/** A page of the lines that wait for the end of a job of their user. */
export async function listOwnWaits(records: Records, after: string | undefined) {
  const page = await records.query({ pk: linesPartition, prefix: ownPrefix, after, limit: 100 });
  return { line_ids: page.items.map(({ sk }) => sk.slice(ownPrefix.length)), next: page.next };
}

/** The write that refuses a job which would overtake those of its line. */
export const lineIsEmpty = (job: Owned): Write => ({ check: lineKey(lineOf(job)), if: { exists: false } });

/** Ticket of a new job at the end of a line. */
export const nextTicket = (found: WaitingLine | undefined): number => found?.next ?? 1;

/** The writes that put a job at the end of its line, as it was found; refused where another one was faster. */
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
 * The writes that take a job out of a line, or several, refused where the line has changed. With `turn` the line has had
 * its turn.
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

/** What remains of `first` and `gaps` when these tickets have left. */
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
 * Jobs that wait for a place stand in a line: each user has one, and another one for clusters, which wait for other
 * things. A ticket gives the position of a job in its line. Rows of WAITING_LINES, one for each line that is not empty,
 * say what the line waits for: `OWN#…` for the end of a job of its user, `READY#…` for vCPUs or the cluster, in the
 * order in which lines have their turn. So a free place is given away by reading one row, however many jobs wait.
 */

/** Most ranges of tickets that left a line out of order, of which the line knows. Beyond that, positions are too high. */
const maxGaps = 2000;

/** The write that moves a line's row; nothing where it stays. */
function moveRow({ line_id, row }: WaitingLine, to: string): Write[] {
  if (row === to) return [];
  return [{ delete: rowKey(row) }, { put: lineRow.item(rowKey(to), { line_id }) }];
}

/** The writes by which a line waits for the end of a job of its user (`own`) or for its turn; none where it does already. */
export function waitFor(found: WaitingLine, what: 'own' | 'turn'): Write[] {
  const row = what === 'own' ? ownRow(found) : readyRow(found);
  if (row === found.row) return [];
  const change = { set: { row }, add: { changes: 1 } };
  const unmoved = { equals: { changes: found.changes } };
  return [changedLine.on({ update: lineKey(found.line_id), change, if: unmoved }), ...moveRow(found, row)];
}

const ownRow = ({ line_id }: WaitingLine): string => `${ownPrefix}${line_id}`;

/** The write that removes a row whose line is empty, which only somebody who deletes items by hand leaves. */
export const removeRow = ({ sk }: LineRow): Write => ({ delete: rowKey(sk) });

/** Position of a ticket in its line, from 1. */
export function positionOf({ first, gaps }: WaitingLine, ticket: number): number {
  const left = gaps.reduce(
    (sum, [from, to]) => (from < ticket ? sum + Math.min(to, ticket) - from + 1 : sum),
    0,
  );
  return Math.max(1, ticket - first + 1 - left);
}
