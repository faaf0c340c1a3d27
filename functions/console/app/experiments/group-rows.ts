import { numberText } from '../ui/text/format.ts';
import { type Bin, binsOf } from './bins.ts';
import type { Column } from './columns.ts';
import type { Row } from './row.ts';
import { type Order, sortBy } from './sort-rows.ts';

/** Mean and sample standard deviation of a column's finite values. */
export interface Spread {
  count: number;
  mean: number;
  deviation: number | undefined;
}

export interface RowGroup {
  /** Common value; undefined for the group of rows without one. */
  value: string | undefined;
  /** Bin of a group of numbers; undefined if all rows have the same value. */
  bin?: Bin | undefined;
  rows: Row[];
  spreads: Map<string, Spread>;
}

/** Compute the mean and deviation with Welford's algorithm, which avoids cancellation for large, close values. */
export function spreadOf(values: Iterable<string | number | undefined>): Spread | undefined {
  let count = 0;
  let mean = 0;
  let squares = 0;
  for (const value of values) {
    if (typeof value !== 'number' || !Number.isFinite(value)) continue;
    count += 1;
    const distance = value - mean;
    mean += distance / count;
    squares += distance * (value - mean);
  }
  return count === 0
    ? undefined
    : { count, mean, deviation: count === 1 ? undefined : Math.sqrt(squares / (count - 1)) };
}

const binText = ({ from, to }: Bin): string => `${numberText(from)} to ${numberText(to)}`;

/**
 * Group rows by their values in one column, or by bins if it has many numbers. Compute the spread of every numeric
 * column. Largest groups come first, bins in ascending order.
 */
export function groupRows(rows: readonly Row[], by: Column, columns: readonly Column[]): RowGroup[] {
  const groups = new Map<string | undefined, Row[]>();
  const bins = new Map<string, Bin>();
  const binOf = binsOf(rows.map((row) => by.value(row)));
  for (const row of rows) {
    const value = by.value(row);
    const bin = typeof value === 'number' ? binOf?.(value) : undefined;
    const key = value === undefined ? undefined : bin === undefined ? String(value) : binText(bin);
    if (bin !== undefined && key !== undefined) bins.set(key, bin);
    const present = groups.get(key);
    if (present === undefined) groups.set(key, [row]);
    else present.push(row);
  }
  return [...groups]
    .sort((a, b) => {
      const [one, other] = [bins.get(a[0] ?? ''), bins.get(b[0] ?? '')];
      return one !== undefined && other !== undefined ? one.from - other.from : b[1].length - a[1].length;
    })
    .map(([value, members]) => {
      const spreads = new Map<string, Spread>();
      for (const column of columns) {
        if (!column.isNumber) continue;
        const spread = spreadOf(members.map((row) => column.value(row)));
        if (spread !== undefined) spreads.set(column.id, spread);
      }
      return { value, bin: value === undefined ? undefined : bins.get(value), rows: members, spreads };
    });
}

/** Sort groups by their common value, or by the mean of another column. */
export function sortGroups(groups: readonly RowGroup[], by: Column, order: Order | undefined): RowGroup[] {
  if (order === undefined) return [...groups];
  const { column, isDescending } = order;
  if (column.id !== by.id) return sortBy(groups, ({ spreads }) => spreads.get(column.id)?.mean, isDescending);
  return sortBy(
    groups,
    ({ value, bin, rows: [first] }) =>
      bin?.from ?? (value === undefined || first === undefined ? undefined : by.value(first)),
    isDescending,
  );
}

const maxDecimals = 8;

/** Format mean ± deviation in the column's unit. Round the mean to the digits that the deviation supports. */
export function spreadText({ mean, deviation }: Spread, { show }: Pick<Column, 'show'>): string {
  if (deviation === undefined || deviation === 0) return show(mean);
  const decimals = 1 - Math.floor(Math.log10(deviation));
  if (show !== numberText || decimals < 0 || decimals > maxDecimals || Math.abs(mean) >= 1e7)
    return `${show(mean)} ± ${show(Number(deviation.toPrecision(2)))}`;
  return `${mean.toFixed(decimals)} ± ${deviation.toFixed(decimals)}`;
}
