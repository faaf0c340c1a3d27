import type { Column } from './columns.ts';
import type { Row } from './row.ts';

/** Mean and sample deviation of a column over the rows that have a finite value. */
export interface Spread {
  count: number;
  mean: number;
  deviation: number | undefined;
}

export interface RowGroup {
  /** Undefined for the rows without a value. */
  value: string | undefined;
  rows: Row[];
  spreads: Map<string, Spread>;
}

/** By Welford's recurrence, which does not cancel where values are large and close. */
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

/** The rows by what they have in one column, largest groups first, with the spread of every column of numbers. */
export function groupRows(rows: readonly Row[], by: Column, columns: readonly Column[]): RowGroup[] {
  const groups = new Map<string | undefined, Row[]>();
  for (const row of rows) {
    const value = by.value(row);
    const key = value === undefined ? undefined : String(value);
    const present = groups.get(key);
    if (present === undefined) groups.set(key, [row]);
    else present.push(row);
  }
  return [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([value, members]) => {
      const spreads = new Map<string, Spread>();
      for (const column of columns) {
        if (!column.isNumber) continue;
        const spread = spreadOf(members.map((row) => column.value(row)));
        if (spread !== undefined) spreads.set(column.id, spread);
      }
      return { value, rows: members, spreads };
    });
}
