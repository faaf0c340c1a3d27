import type { Item, Key } from '../../../shared/data/table/table.ts';

/** A stored item. */
export interface Row {
  item: Item;
  bytes: number;
}

interface Partition {
  rows: Map<string, Row>;
  /** Sort keys in order. */
  order: string[];
}

/** A query of one partition. */
export interface Query {
  pk: string;
  prefix?: string | undefined;
  after: string | undefined;
  descending: boolean;
  limit: number;
}

/** Bytes of an item, nearly as DynamoDB counts them. */
export const bytesOf = (item: object): number => JSON.stringify(item).length;

function position(order: readonly string[], sk: string): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle] ?? '') < sk) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The items of a table, by partition and in the order of their sort keys. */
export class TableRows {
  readonly #partitions = new Map<string, Partition>();

  find({ pk, sk }: Key): Row | undefined {
    return this.#partitions.get(pk)?.rows.get(sk);
  }

  put(item: Item): void {
    let partition = this.#partitions.get(item.pk);
    if (partition === undefined) {
      partition = { rows: new Map(), order: [] };
      this.#partitions.set(item.pk, partition);
    }
    const row = { item, bytes: bytesOf(item) };
    if (!partition.rows.has(item.sk)) partition.order.splice(position(partition.order, item.sk), 0, item.sk);
    partition.rows.set(item.sk, row);
  }

  delete({ pk, sk }: Key): void {
    const partition = this.#partitions.get(pk);
    if (partition?.rows.delete(sk) !== true) return;
    partition.order.splice(position(partition.order, sk), 1);
    if (partition.order.length === 0) this.#partitions.delete(pk);
  }

  query({ pk, prefix = '', after, descending, limit }: Query) {
    const { rows, order } = this.#partitions.get(pk) ?? { rows: new Map<string, Row>(), order: [] };
    const items: Item[] = [];
    let bytes = 0;
    const step = descending ? -1 : 1;
    const first = descending
      ? after === undefined
        ? prefix === ''
          ? order.length - 1
          : position(order, `${prefix}\uffff`) - 1
        : position(order, after) - 1
      : after === undefined
        ? position(order, prefix)
        : position(order, `${after}\0`);
    let index = first;
    for (; index >= 0 && index < order.length; index += step) {
      const row = rows.get(order[index] ?? '');
      if (row === undefined || !row.item.sk.startsWith(prefix)) break;
      if (items.length === limit || bytes > 1_000_000) {
        return { items, bytes, next: items.at(-1)?.sk };
      }
      items.push(row.item);
      bytes += row.bytes;
    }
    // DynamoDB reports the end only after a read behind the last item.
    return { items, bytes, next: items.length === limit ? items.at(-1)?.sk : undefined };
  }
}
