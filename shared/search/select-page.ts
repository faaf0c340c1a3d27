import { breathe } from '../core/stop-signal.ts';
import type { Position, RowOrder } from './row-order.ts';

/**
 * Return the first `limit` rows in an order after the position `after`. Rows added or removed between two pages do
 * not shift the others: the next page starts after the position of the last row, even if that row is gone. Other
 * requests get their turns meanwhile.
 */
export async function selectPage<Row>(
  rows: Iterable<Row>,
  order: RowOrder<Row>,
  { limit, after }: { limit: number; after?: Position | undefined },
): Promise<RowPage<Row>> {
  const byPosition = (placed: Placed<Row>, other: Placed<Row>) =>
    order.compare(placed.position, other.position);
  let first: Placed<Row>[] = [];
  let isMore = false;
  /** Last row of a full page: no later row is on it. */
  let last: Placed<Row> | undefined;
  const cut = () => {
    first.sort(byPosition);
    isMore ||= first.length > limit;
    first = first.slice(0, limit);
    if (first.length === limit) last = first.at(-1);
  };
  let looked = 0;
  for (const row of rows) {
    looked += 1;
    if (looked % rowsOfTurn === 0) await breathe();
    const position = order.positionOf(row);
    if (after !== undefined && order.compare(position, after) <= 0) continue;
    if (last !== undefined && order.compare(position, last.position) > 0) isMore = true;
    else if (first.push({ row, position }) >= limit + Math.max(limit, minBatch)) cut();
  }
  cut();
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

/** Rows between two looks at the time: some 0.5 ms. */
const rowsOfTurn = 200;

/** Rows that are sorted at once, at least. */
const minBatch = 200;
