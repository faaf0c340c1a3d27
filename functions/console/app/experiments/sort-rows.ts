import { metricGoal } from '../../../../shared/metrics/criteria.ts';
import { type Column, metricIn } from '../runs/columns.ts';
import type { Row } from '../runs/row.ts';

/** Metric of a project's criterion. */
export interface Judge {
  name: string;
  goal: 'maximize' | 'minimize';
}

export interface Order<R = Row> {
  column: Column<R>;
  isDescending: boolean;
}

/** Rank values by type: numbers, texts, NaN, missing values. They come so in both directions, as in the service's order. */
function rankOf(value: string | number | undefined): number {
  if (value === undefined) return 3;
  if (typeof value === 'string') return 1;
  return Number.isNaN(value) ? 2 : 0;
}

const texts = new Intl.Collator(undefined, { numeric: true });

/** Sort things by value. Equal values keep their order, and missing ones come last. */
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
    if (a.rank !== b.rank) return a.rank - b.rank;
    if (a.rank >= 2) return 0;
    if (typeof a.value === 'number' && typeof b.value === 'number') return (a.value - b.value) * direction;
    return texts.compare(String(a.value), String(b.value)) * direction;
  });
  return keyed.map(({ thing }) => thing);
}

export const sortRows = <R>(rows: readonly R[], { column, isDescending }: Order<R>): R[] =>
  sortBy(rows, (row) => column.value(row), isDescending);

/** Return the text of an order in an address. `best` is best first and `worst` worst first, whatever the goal is. */
export function orderText(
  { id }: Pick<Column, 'id'>,
  isDescending: boolean,
  judge: Judge | undefined,
): string {
  if (id === 'best') return isDescending === isUpward(judge) ? 'best' : 'worst';
  return `${isDescending ? '-' : ''}${id}`;
}

/** Read the order of an address: the id of its column, and whether it is descending. */
export function readOrder(text: string, judge: Judge | undefined): { id: string; isDescending: boolean } {
  const id = text.replace(/^-/, '');
  if (id !== 'best' && id !== 'worst') return { id, isDescending: text.startsWith('-') };
  // Views of earlier releases say `-best` for the greatest values first, which are the best ones of an accuracy.
  const isBestFirst = text === 'best' || (text === '-best' && isUpward(judge));
  return { id: 'best', isDescending: isBestFirst === isUpward(judge) };
}

/** Whether greater values are better. */
const isUpward = (judge: Judge | undefined): boolean => judge?.goal === 'maximize';

/**
 * Return whether the first click on a column sorts in descending order. The best values come first if the goal is
 * known. Other numbers start with the largest, texts with the first letters.
 */
export function startsDescending(
  { id, isNumber }: Pick<Column, 'id' | 'isNumber'>,
  judge: Judge | undefined,
): boolean {
  if (id === 'created') return true;
  if (id === 'best') return judge?.goal !== 'minimize';
  const metric = metricIn(id);
  return metric === undefined ? isNumber : metricGoal(metric, judge) !== 'minimize';
}
