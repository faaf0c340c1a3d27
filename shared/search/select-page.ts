import type { Position, RowOrder } from './row-order.ts';

/**
 * Return the first `limit` rows in an order after the position `after`. Rows added or removed between two pages do
 * not shift the others: the next page starts after the position of the last row, even if that row is gone.
 */
export function selectPage<Row>(
  rows: Iterable<Row>,
  order: RowOrder<Row>,
  { limit, after }: { limit: number; after?: Position | undefined },
): RowPage<Row> {
  const first: Placed<Row>[] = [];
  let isMore = false;
  for (const row of rows) {
    const position = order.positionOf(row);
    if (after !== undefined && order.compare(position, after) <= 0) continue;
    const last = first.length === limit ? first.at(-1) : undefined;
    isMore ||= last !== undefined;
    if (last !== undefined && order.compare(position, last.position) > 0) continue;
    first.splice(indexFor(order, first, position), 0, { row, position });
    if (first.length > limit) first.pop();
  }
  return { rows: first.map(({ row }) => row), next: isMore ? first.at(-1)?.position : undefined };
}

/** A page of rows in an order. */
export interface RowPage<Row> {
  rows: Row[];
  /** Position of the last row. Undefined if no more rows follow. */
  next: Position | undefined;
}

interface Placed<Row> {
  row: Row;
  position: Position;
}

/** Return the insertion index of a position in a sorted list. */
function indexFor<Row>(order: RowOrder<Row>, list: readonly Placed<Row>[], position: Position): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const there = list[middle];
    if (there !== undefined && order.compare(there.position, position) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
