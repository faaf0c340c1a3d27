import * as z from 'zod';
import type { Logger } from '../../core/log.ts';
import { UnreadableRecordError } from '../table/item.ts';
import { pagesOf } from '../table/pages-of.ts';
import { recordType } from '../table/record.ts';
import type { Item, Key, TableName, TableReader, TableWriter } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/** Partitions of a table whose rows represent unfinished work. */
export interface WatchedList<N extends TableName = TableName> {
  readonly table: N;
  /** Keys of the partitions. All start with the first key, and no other partition of the table does. */
  readonly partitions: readonly [string, ...string[]];
  /** Whether expired rows also start the task. */
  readonly startsByExpiry?: true;
  /** Whether rows may be in partitions after the first. Default: true. */
  isSpread?(table: TableReader<TableName>): Promise<boolean>;
}

/** Position in a watched list: after a row of a partition, or before its first row. */
export interface WatchedPosition {
  pk: string;
  after: string | undefined;
}

/** Row that this version of the service cannot read, or whose work needs an unreadable record. */
export interface UnreadableRow {
  key: Key;
  error: UnreadableRecordError;
  /** Whether it is already set aside. */
  isSetAside: boolean;
}

export interface WatchedPage<T> {
  items: T[];
  /** Items that are set aside. */
  setAside: ReadonlySet<T>;
  unreadable: UnreadableRow[];
  /** Start of the next page. Undefined at the end of the list. */
  next: WatchedPosition | undefined;
}

/** Return the page at a position, or the first page. A row that `parse` cannot read does not affect the others. */
export async function readWatched<T>(
  table: TableReader<TableName>,
  list: WatchedList,
  parse: (item: Item) => T,
  position: WatchedPosition | undefined,
  limit: number,
): Promise<WatchedPage<T>> {
  const { pk, after } = position ?? { pk: list.partitions[0], after: undefined };
  const page = await table.query({ pk, after, limit });
  const rows = readRows(page.items, parse);
  if (page.next !== undefined) return { ...rows, next: { pk, after: page.next } };
  const rest = await following(table, list, pk);
  const next = rest === undefined ? undefined : { pk: rest, after: undefined };
  return { ...rows, next };
}

/** Parse rows of a watched list. Return unreadable rows separately. */
export function readRows<T>(
  rows: readonly Item[],
  parse: (item: Item) => T,
): Pick<WatchedPage<T>, 'items' | 'setAside' | 'unreadable'> {
  const items: T[] = [];
  const setAside = new Set<T>();
  const unreadable: UnreadableRow[] = [];
  for (const item of rows) {
    try {
      const value = parse(item);
      items.push(value);
      if (isSetAside(item)) setAside.add(value);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      unreadable.push({ key: item, error, isSetAside: isSetAside(item) });
    }
  }
  return { items, setAside, unreadable };
}

/**
 * Set a row aside. It stays on the list with the reason, but no longer schedules the task. So a permanently
 * unreadable record costs nothing, and the next pass of a later version can process it. Return false if the row is
 * already set aside, or is gone.
 */
export async function setAside(
  table: TableWriter<TableName>,
  row: UnreadableRow,
  now: Date,
): Promise<boolean> {
  if (row.isSetAside) return false;
  const { pk, sk } = row.key;
  const set_aside_reason = row.error.message.slice(0, longestReason);
  return tryWrite(
    table.write({
      update: { pk, sk },
      change: { set: { set_aside_at: now.toISOString(), set_aside_reason } },
      if: { exists: true, absent: ['set_aside_at'] },
    }),
  );
}

const longestReason = 1000;

const isSetAside = ({ set_aside_at }: Item): boolean => set_aside_at !== undefined;

/** Return the next partition that may have rows. */
async function following(
  table: TableReader<TableName>,
  { partitions, isSpread }: WatchedList,
  pk: string,
): Promise<string | undefined> {
  const index = partitions.indexOf(pk) + 1;
  if (index === 1 && partitions.length > 1 && isSpread !== undefined && !(await isSpread(table)))
    return undefined;
  return partitions[index];
}

/** Log that a row was set aside. The line raises an alarm. */
export function logSetAside(log: Logger, { key: { pk, sk }, error }: UnreadableRow): void {
  log.error('set-aside', { key: `${pk}/${sk}`, reason: error.message });
}

/** Undo that a row was set aside. */
export const putBack = (table: TableWriter<TableName>, { pk, sk }: Key): Promise<boolean> =>
  tryWrite(
    table.write({
      update: { pk, sk },
      change: { remove: ['set_aside_at', 'set_aside_reason'] },
      if: { exists: true },
    }),
  );

/** Whether a timer started a task and starts it again, as on one machine. Then it schedules no pass by a write. */
export const repeatsByItself = (started: unknown): boolean => Started.parse(started).repeats;

/** Event that starts a task: a change of its lists, or a timer. */
const Started = z.object({ repeats: z.boolean().catch(false) }).catch({ repeats: false });

/**
 * Change a row of the list that is not set aside, if any. The table's stream then starts the list's task again.
 * The task does this first. So another pass follows while work remains, even after a crash, and an empty list
 * costs nothing.
 */
export async function scheduleNextPass<N extends TableName>(
  table: TableWriter<N>,
  list: WatchedList<N>,
): Promise<void> {
  for (;;) {
    const row = await findRow(table, list);
    if (row === undefined) return;
    const { pk, sk } = row;
    const change = { add: { looked_at: 1 } };
    // If this row was finished since, try the next one.
    if (await tryWrite(table.write({ update: { pk, sk }, change, if: { exists: true } }))) return;
  }
}

/** Return any row of the list that is not set aside. */
async function findRow(table: TableReader<TableName>, list: WatchedList): Promise<Key | undefined> {
  let pk: string | undefined = list.partitions[0];
  while (pk !== undefined) {
    const query = { pk, limit: 10 };
    for await (const page of pagesOf((after) => table.query({ ...query, after }))) {
      const row = page.items.find((item) => !isSetAside(item));
      if (row !== undefined) return row;
    }
    pk = await following(table, list, pk);
  }
  return undefined;
}

/** Return the position where the last pass over a list ran out of time. Return undefined if it reached the end. */
export async function readPosition(
  records: TableReader<'records'>,
  list: List,
): Promise<WatchedPosition | undefined> {
  const item = await records.get(positionKey(list));
  if (item === undefined) return undefined;
  const { partition: pk, after } = listPosition.parse(item);
  // A version with other partitions may have written the position. Then begin at the start of the list.
  return list.partitions.includes(pk) ? { pk, after: after ?? undefined } : undefined;
}

type List = WatchedList<'records'>;

const positionKey = ({ partitions }: List): Key => ({ pk: 'LIST_POSITIONS', sk: partitions[0] });

const listPosition = recordType('list-position', () =>
  z.object({ partition: z.string(), after: z.string().nullable() }),
);

export const savePosition = (
  records: TableWriter<'records'>,
  list: List,
  { pk: partition, after = null }: { pk: string; after?: string | null | undefined },
): Promise<void> => records.write({ put: listPosition.item(positionKey(list), { partition, after }) });

export const forgetPosition = (records: TableWriter<'records'>, list: List): Promise<void> =>
  records.write({ delete: positionKey(list) });
