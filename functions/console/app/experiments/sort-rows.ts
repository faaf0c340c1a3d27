import { metricGoal } from '../../../../shared/metrics/criteria.ts';
import { type Column, metricIn } from './columns.ts';
import type { Row } from './row.ts';

/** The metric that a project is judged by. */
export interface Judge {
  name: string;
  goal: 'maximize' | 'minimize';
}

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

/** Things in the order of their values; equal ones stay as they were, and those without a value come last. */
export function sortBy<T>(
  things: readonly T[],
  valueIn: (thing: T) => string | number | undefined,
  isDescending: boolean,
): T[] {
  const keyed = things.map((thing) => {
    const value = valueIn(thing);
    return { thing, value, rank: rankOf(value) };
  });
  const direction = isDescending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.rank !== b.rank) return a.rank < 2 && b.rank < 2 ? (a.rank - b.rank) * direction : a.rank - b.rank;
    if (a.rank >= 2) return 0;
    if (typeof a.value === 'number' && typeof b.value === 'number') return (a.value - b.value) * direction;
    return texts.compare(String(a.value), String(b.value)) * direction;
  });
  return keyed.map(({ thing }) => thing);
}

/** The rows in an order. No row is dropped. */
export const sortRows = (rows: readonly Row[], { column, isDescending }: Order): Row[] =>
  sortBy(rows, (row) => column.value(row), isDescending);

/**
 * Whether the first click on a column sorts it downwards: so that the best is at the top where it is known what is best.
 * Other numbers are looked at from the top, texts from the beginning.
 */
export function startsDescending({ id, isNumber }: Column, judge: Judge | undefined): boolean {
  if (id === 'created') return true;
  if (id === 'best') return judge?.goal !== 'minimize';
  const metric = metricIn(id);
  return metric === undefined ? isNumber : metricGoal(metric, judge) !== 'minimize';
}
