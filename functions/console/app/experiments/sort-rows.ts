import type { Column } from './columns.ts';
import type { Row } from './row.ts';

export interface Order {
  column: Column;
  isDescending: boolean;
}

/** Numbers, then texts, then NaN, then what is missing: the latter two in both directions. */
function rankOf(value: string | number | undefined): number {
  if (value === undefined) return 3;
  if (typeof value === 'string') return 1;
  return Number.isNaN(value) ? 2 : 0;
}

const texts = new Intl.Collator(undefined, { numeric: true });

/** The rows in an order; equal ones stay as they were. No row is dropped. */
export function sortRows(rows: readonly Row[], { column, isDescending }: Order): Row[] {
  const keyed = rows.map((row) => {
    const value = column.value(row);
    return { row, value, rank: rankOf(value) };
  });
  const direction = isDescending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.rank !== b.rank) return a.rank < 2 && b.rank < 2 ? (a.rank - b.rank) * direction : a.rank - b.rank;
    if (a.rank >= 2) return 0;
    if (typeof a.value === 'number' && typeof b.value === 'number') return (a.value - b.value) * direction;
    return texts.compare(String(a.value), String(b.value)) * direction;
  });
  return keyed.map(({ row }) => row);
}
