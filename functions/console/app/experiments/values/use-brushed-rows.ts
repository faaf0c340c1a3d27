import { useMemo } from 'preact/hooks';
import { useBrushes } from '../../charts/parallel/use-brushes.ts';
import { isVarying } from '../../charts/values/axis.ts';
import type { Row } from '../../runs/row.ts';
import type { Judge } from '../sort-rows.ts';
import { axesOfRows } from './axes-of-rows.ts';

const noRows: readonly Row[] = [];

/** Return the rows that the brushes of the address choose; all rows while the plots are hidden. */
export function useBrushedRows(
  rows: readonly Row[],
  judge: Judge | undefined,
  isPlotting: boolean,
): readonly Row[] {
  const plotted = isPlotting ? rows : noRows;
  const axes = useMemo(() => axesOfRows(plotted, judge).filter(isVarying), [plotted, judge?.name]);
  const { brushes, chosen } = useBrushes(axes, plotted.length);
  return useMemo(
    () => (isPlotting && brushes.size > 0 ? rows.filter((_, index) => chosen[index] === true) : rows),
    [rows, isPlotting, chosen, brushes.size],
  );
}
