import type { Deadline } from '../core/deadline.ts';
import { errorStack } from '../core/error-text.ts';
import { inLanes } from '../core/in-lanes.ts';
import type { Logger } from '../core/log.ts';
import {
  logSetAside,
  putBack,
  setAside,
  type UnreadableRow,
  type WatchedPage,
  type WatchedPosition,
} from '../data/lists/watched-list.ts';
import { UnreadableRecordError } from '../data/table/item.ts';
import type { Key, TableName, TableWriter } from '../data/table/table.ts';

/** Process a list page by page while there is time. Set unreadable rows aside. */
export async function drainList<T>(
  { table, list, keyOf, work, lanes = 1 }: Backlog<T>,
  hasTime: Deadline,
  log: Logger,
  now: () => Date,
): Promise<void> {
  const aside = async (row: UnreadableRow) => {
    if (await setAside(table, row, now())) logSetAside(log, row);
  };
  let position: WatchedPosition | undefined;
  do {
    const page = await list(position);
    for (const row of page.unreadable) await aside(row);
    await inLanes(page.items, lanes, async (item) => {
      const key = keyOf(item);
      const isSetAside = page.setAside.has(item);
      try {
        await work(item);
        if (isSetAside) await putBack(table, key);
      } catch (error) {
        if (error instanceof UnreadableRecordError) await aside({ key, error, isSetAside });
        // A failed row must not block the others. It is retried later.
        else log.error('row-failed', { id: key.sk, stack: errorStack(error) });
      }
    });
    position = page.next;
  } while (position !== undefined && hasTime());
}

interface Backlog<T> {
  table: TableWriter<TableName>;
  list(position: WatchedPosition | undefined): Promise<WatchedPage<T>>;
  keyOf(one: T): Key;
  work(one: T): Promise<unknown>;
  /** Rows to process at the same time; default 1. */
  lanes?: number;
}
