import { type Item, itemName } from './item.ts';
import { RecentValues } from './recent-values.ts';
import type { Key, TableName, TableReader } from './table.ts';

/** A reader of items that may be a second old. */
export interface RecentReader<N extends TableName> extends TableReader<N> {
  /** Whether an item is kept, so that its read costs no request. */
  has(key: Key): boolean;
  /** Whether any read has returned a kept item. */
  hasReused(): boolean;
}

/**
 * Create a reader that returns single items as this process has read them within a second (`recent-values.ts`). It is for
 * what every request asks again: who its caller is, and which project it is about. Items that do not exist are not kept.
 * Several items of one call are of one moment: all are kept ones, or all are read.
 */
export function recentReads<N extends TableName>(reader: TableReader<N>): RecentReader<N> {
  let hasReused = false;
  const batchGet = async (keys: readonly Key[]): Promise<(Item | undefined)[]> => {
    const kept = keys.map((key) => items.peek(reader, itemName(key)));
    if (kept.every((item) => item !== undefined)) {
      hasReused = true;
      return Promise.all(kept);
    }
    return Promise.all(
      keys.map((key) => items.read(reader, itemName(key), [itemName(key)], () => reader.get(key))),
    );
  };
  return {
    ...reader,
    batchGet,
    get: async (key) => (await batchGet([key]))[0],
    has: (key) => items.peek(reader, itemName(key)) !== undefined,
    hasReused: () => hasReused,
  };
}

const items = new RecentValues<Item | undefined>();
