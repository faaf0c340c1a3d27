import type { Item, Page } from './table.ts';
import { UnreadableRecordError } from './unreadable-record.ts';

/**
 * The records of a page of items. Those that cannot be read are left out and reported in `unreadable`, so that one of
 * them never hides the others.
 */
export function readPage<T>({ items, next }: Page<Item>, parse: (item: Item) => T): Page<T> {
  const read: T[] = [];
  const unreadable: UnreadableRecordError[] = [];
  for (const item of items) {
    try {
      read.push(parse(item));
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      unreadable.push(error);
    }
  }
  return { items: read, next, ...(unreadable.length > 0 && { unreadable }) };
}

/** The page of one item that was read by itself, or of none. */
export const pageOf = (item: Item | undefined): Page<Item> => ({
  items: item === undefined ? [] : [item],
  next: undefined,
});
