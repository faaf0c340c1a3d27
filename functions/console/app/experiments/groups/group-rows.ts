import type { Column } from '../../runs/columns.ts';
import type { Row } from '../../runs/row.ts';
import { numberText } from '../../ui/text/format.ts';
import { conditionFor, conditionForBin } from '../filter/conditions.ts';
import { type Order, sortBy } from '../sort-rows.ts';
import { type Bin, binsOf } from './bins.ts';

/** Mean and sample standard deviation of a column's finite values. */
export interface Spread {
  count: number;
  mean: number;
  deviation: number | undefined;
}

/** What the rows of a group have in common in one column. */
export interface GroupPart {
  /** Common value; undefined for the group of rows without one. */
  value: string | undefined;
  /** Bin of a group of numbers; undefined if all rows have the same value. */
  bin?: Bin | undefined;
}

export interface RowGroup {
  /** Identifies the group among those of the same columns. */
  key: string;
  /** One part for each column that the rows are grouped by. */
  parts: readonly GroupPart[];
  rows: Row[];
  spreads: Map<string, Spread>;
}

/**
 * Group rows by their values in some columns; by bins in a column with many numbers. Compute the spread of every
 * numeric column. Largest groups come first; those of one column with bins in ascending order.
 */
export function groupRows(
  rows: readonly Row[],
  by: readonly Column[],
  columns: readonly Column[],
): RowGroup[] {
  const binners = by.map((column) => binsOf(rows.map((row) => column.value(row))));
  const groups = new Map<string, Pick<RowGroup, 'key' | 'parts' | 'rows'>>();
  for (const row of rows) {
    const parts = by.map((column, at) => partOf(column.value(row), binners[at]));
    const key = JSON.stringify(parts.map(({ value }) => value ?? null));
    const present = groups.get(key);
    if (present === undefined) groups.set(key, { key, parts, rows: [row] });
    else present.rows.push(row);
  }
  return [...groups.values()]
    .sort((a, b) => {
      const [low, high] = [a.parts[0]?.bin, b.parts[0]?.bin];
      return by.length === 1 && low !== undefined && high !== undefined
        ? low.from - high.from
        : b.rows.length - a.rows.length;
    })
    .map((group) => ({ ...group, spreads: spreadsOf(group.rows, columns) }));
}

const binText = ({ from, to }: Bin): string => `${numberText(from)} to ${numberText(to)}`;

function partOf(value: string | number | undefined, binOf: ((value: number) => Bin) | undefined): GroupPart {
  if (value === undefined) return { value };
  const bin = typeof value === 'number' ? binOf?.(value) : undefined;
  return { value: bin === undefined ? String(value) : binText(bin), bin };
}

function spreadsOf(rows: readonly Row[], columns: readonly Column[]): Map<string, Spread> {
  const spreads = new Map<string, Spread>();
  for (const column of columns) {
    if (!column.isNumber) continue;
    const spread = spreadOf(rows.map((row) => column.value(row)));
    if (spread !== undefined) spreads.set(column.id, spread);
  }
  return spreads;
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

/** Name of a group: its values, as in `adam, 0.001`. */
export const groupName = ({ parts }: Pick<RowGroup, 'parts'>): string =>
  parts.map(({ value }) => value ?? '(not set)').join(', ');

/** Return the filter that finds the rows of a group; undefined if rows have no value in a column. */
export function groupFilter({ parts }: Pick<RowGroup, 'parts'>, by: readonly Column[]): string | undefined {
  const conditions = by.map(({ id }, at) => {
    const { value, bin } = parts[at] ?? {};
    if (value === undefined) return undefined;
    const [, kind, name = ''] = /^(params|tags)\.(.+)$/s.exec(id) ?? [];
    if (kind !== 'params' && kind !== 'tags') return `${id} = '${value}'`;
    return bin === undefined ? conditionFor(kind, name, value) : conditionForBin(kind, name, bin);
  });
  return conditions.includes(undefined) ? undefined : conditions.join(' AND ');
}

/** Sort groups by their common value in a column that they are grouped by, or by the mean of another column. */
export function sortGroups(
  groups: readonly RowGroup[],
  by: readonly Column[],
  order: Order | undefined,
): RowGroup[] {
  if (order === undefined) return [...groups];
  const { column, isDescending } = order;
  const at = by.findIndex(({ id }) => id === column.id);
  if (at < 0) return sortBy(groups, ({ spreads }) => spreads.get(column.id)?.mean, isDescending);
  return sortBy(
    groups,
    ({ parts, rows: [first] }) =>
      parts[at]?.bin?.from ??
      (parts[at]?.value === undefined || first === undefined ? undefined : by[at]?.value(first)),
    isDescending,
  );
}

const maxDecimals = 8;

/** Decimal places that a deviation supports: two of its digits. */
const supported = (deviation: number): number => 1 - Math.floor(Math.log10(deviation));

/** Return the decimal places that most groups of a column have, so that their points are below each other. */
export function spreadDecimals(spreads: readonly Spread[]): number | undefined {
  const counts = new Map<number, number>();
  for (const { deviation = 0 } of spreads)
    if (deviation > 0) counts.set(supported(deviation), (counts.get(supported(deviation)) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0]);
  return most?.[0];
}

/**
 * Format mean ± deviation in the column's unit. Round the mean to the digits that the deviation supports, or to the
 * column's, if these are one more or less.
 */
export function spreadText(
  { mean, deviation }: Spread,
  { show }: Pick<Column, 'show'>,
  ofColumn?: number,
): string {
  if (deviation === undefined || deviation === 0) return show(mean);
  const own = supported(deviation);
  const decimals = ofColumn !== undefined && Math.abs(ofColumn - own) <= 1 ? ofColumn : own;
  if (show !== numberText || decimals < 0 || decimals > maxDecimals || Math.abs(mean) >= 1e7)
    return `${show(mean)} ± ${show(Number(deviation.toPrecision(2)))}`;
  return `${mean.toFixed(decimals)} ± ${deviation.toFixed(decimals)}`;
}
