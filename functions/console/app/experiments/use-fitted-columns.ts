import { useMemo } from 'preact/hooks';
import { type Column, hasOnlyNumbers, mostDecimals, wordsWidth } from './columns.ts';

const isParamOrTag = (id: string): boolean => /^(?:params|tags)\./.test(id);

/** Return a column with the room that its values need, so that words are whole and points are below each other. */
export function fitColumn<R>(column: Column<R>, rows: readonly R[]): Column<R> {
  const isWords = isParamOrTag(column.id);
  const known = isWords ? { ...column, hasNumbers: hasOnlyNumbers(column, rows) } : column;
  const aligned = { ...known, decimals: mostDecimals(known, rows) };
  return isWords ? { ...aligned, width: wordsWidth(aligned, rows) } : aligned;
}

/** Fit columns to rows. They stay the same objects until one needs other room, so that rows are not drawn anew. */
export function useFittedColumns<R>(columns: readonly Column<R>[], rows: readonly R[]): Column<R>[] {
  const fitted = columns.map((column) => fitColumn(column, rows));
  const rooms = fitted.map(({ width, decimals, hasNumbers }) => `${width} ${decimals} ${hasNumbers}`).join();
  return useMemo(() => fitted, [columns, rooms]);
}
