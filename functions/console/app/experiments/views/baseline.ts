import { metricGoal } from '../../../../../shared/metrics/criteria.ts';
import { type Column, metricIn } from '../../runs/columns.ts';
import { differenceFrom } from '../../runs/difference.ts';
import type { Row } from '../../runs/row.ts';
import type { Judge } from '../sort-rows.ts';

/** Rem that a difference adds to the width of a column. */
const differenceWidth = 3.5;

const goalIn = (id: string, judge: Judge | undefined): Judge['goal'] | undefined => {
  if (id === 'best') return judge?.goal;
  const metric = metricIn(id);
  return metric === undefined ? undefined : metricGoal(metric, judge);
};

/** Let the columns of metrics show the difference from a baseline. */
export function withBaseline(
  columns: readonly Column[],
  baseline: Row | undefined,
  judge: Judge | undefined,
): readonly Column[] {
  if (baseline === undefined) return columns;
  return columns.map((column) => {
    const base =
      column.id === 'best' || metricIn(column.id) !== undefined ? column.value(baseline) : undefined;
    if (typeof base !== 'number' || !Number.isFinite(base)) return column;
    const goal = goalIn(column.id, judge);
    return {
      ...column,
      width: column.width + differenceWidth,
      decimals: 0,
      difference: (row: Row) =>
        row.experiment_id === baseline.experiment_id
          ? undefined
          : differenceFrom(base, column.value(row), goal),
    };
  });
}
