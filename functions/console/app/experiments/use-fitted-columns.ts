import { useMemo } from 'preact/hooks';
import { type Column, fitColumn } from '../runs/columns.ts';

/** Fit columns to rows. They stay the same objects until one needs other room, so that rows are not drawn anew. */
export function useFittedColumns<R>(columns: readonly Column<R>[], rows: readonly R[]): Column<R>[] {
  const fitted = useMemo(() => columns.map((column) => fitColumn(column, rows)), [columns, rows]);
  const rooms = fitted.map(({ width, decimals, hasNumbers }) => `${width} ${decimals} ${hasNumbers}`).join();
  return useMemo(() => fitted, [columns, rooms]);
}
