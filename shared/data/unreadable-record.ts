import type { Item, Page } from './table.ts';

/** A stored record that this version of the service cannot read: written by a newer one, or damaged. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
  /** Key of the item, as `pk/sk`. */
  readonly key: string;
  /** What is wrong with it: names of attributes, never their values. */
  readonly reason: string;

  constructor({ pk, sk }: Pick<Item, 'pk' | 'sk'>, reason: string) {
    super(`${pk}/${sk} ${reason}`);
    this.key = `${pk}/${sk}`;
    this.reason = reason;
  }
}

/**
 * The records of a page of items. Those that cannot be read are left out and reported in `unreadable`, so that one of
 * them never hides the others.
 */
export function readPage<T>({ items, next }: Page<Item>, parse: (item: Item) => T): Page<T> {
  const read: T[] = [];
  const unreadable: UnreadableRecord[] = [];
  for (const item of items) {
    try {
      read.push(parse(item));
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
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
