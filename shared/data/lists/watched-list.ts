import * as z from 'zod';
import type { Logger } from '../../core/log.ts';
import { UnreadableRecordError } from '../table/item.ts';
import { recordType } from '../table/record.ts';
import type { Item, Key, TableName, TableReader, TableWriter } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/** Partitions of a table whose rows stand for unfinished work. */
export interface WatchedList<N extends TableName = TableName> {
  readonly table: N;
  /** Keys of the partitions. All begin with the first, as no other partition of the table does. */
  readonly partitions: readonly [string, ...string[]];
  /** Whether rows that expire start the task, too. */
  readonly startsByExpiry?: true;
  /** Whether rows can be in others than the first; they can unless this is given. */
  isSpread?(table: TableReader<TableName>): Promise<boolean>;
}

/** A position in a watched list: after a row of a partition, or before its first row. */
export interface WatchedPosition {
  pk: string;
  after: string | undefined;
}

/** A row that this version of the service cannot read, or whose work needs such a record. */
export interface UnreadableRow {
  key: Key;
  error: UnreadableRecordError;
  /** Whether it was set aside before. */
  isSetAside: boolean;
}

/** A page of a watched list. */
export interface WatchedPage<T> {
  items: T[];
  /** Those of `items` that were set aside. */
  setAside: ReadonlySet<T>;
  unreadable: UnreadableRow[];
  /** Where the next page begins; undefined at the end of the list. */
  next: WatchedPosition | undefined;
}

/** Return the page at a position, or the first one. A row that `parse` cannot read spoils no other. */
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

/** Read rows of a watched list; those that `parse` cannot read by themselves. */
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
 * Set a row aside: it stays on the list with the reason, but no longer makes the task come again. So a record that can
 * never be read costs nothing, and one that a later version can read is worked off by the next pass, whatever starts
 * it. False when the row was set aside before, or is gone.
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

/** The partition behind another one, of those in which rows can be. */
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

/** Take back that a row was set aside. */
export const putBack = (table: TableWriter<TableName>, { pk, sk }: Key): Promise<boolean> =>
  tryWrite(
    table.write({
      update: { pk, sk },
      change: { remove: ['set_aside_at', 'set_aside_reason'] },
      if: { exists: true },
    }),
  );

/**
 * Change a row of the list, where there is one that is not set aside, so that the table's stream starts the task that
 * watches the list again. The task does this before anything else: however the pass ends, there is another one while
 * work is left, and an empty list costs nothing.
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
    // A row that was finished meanwhile cannot speak for the rest; the next one does.
    if (await tryWrite(table.write({ update: { pk, sk }, change, if: { exists: true } }))) return;
  }
}

/** Return some row of the list that is not set aside. */
async function findRow(table: TableReader<TableName>, list: WatchedList): Promise<Key | undefined> {
  let pk: string | undefined = list.partitions[0];
  while (pk !== undefined) {
    let after: string | undefined;
    do {
      const page = await table.query({ pk, after, limit: 10 });
      const row = page.items.find((item) => !isSetAside(item));
      if (row !== undefined) return row;
      after = page.next;
    } while (after !== undefined);
    pk = await following(table, list, pk);
  }
  return undefined;
}

/** Return where the last pass over a list ran out of time; undefined where it came to the end. */
export async function readPosition(
  records: TableReader<'records'>,
  list: List,
): Promise<WatchedPosition | undefined> {
  const item = await records.get(positionKey(list));
  if (item === undefined) return undefined;
  const { partition: pk, after } = listPosition.parse(item);
  // A version with other partitions may have written it: the list begins anew then.
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
