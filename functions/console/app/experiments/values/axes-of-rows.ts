import { type Axis, axisOf } from '../../charts/values/axis.ts';
import { inOrder } from '../../runs/metric-order.ts';
import { metricOf, paramOf, type Row } from '../../runs/row.ts';
import type { Judge } from '../sort-rows.ts';

/**
 * Return an axis for each param and each metric's last value of some experiments, the criterion's metric first. Axes have
 * different names: a metric with a param's name says that it is a metric.
 */
export function axesOfRows(rows: readonly Row[], judge: Judge | undefined): Axis[] {
  const names = (read: (row: Row) => object) =>
    [...new Set(rows.flatMap((row) => Object.keys(read(row))))].sort();
  const given = names((row) => row.params);
  const params = given.map((name) =>
    axisOf(
      name,
      rows.map((row) => paramOf(row, name)),
    ),
  );
  const metrics = inOrder(
    names((row) => row.metrics),
    judge,
  ).map((name) =>
    axisOf(
      given.includes(name) ? `${name} (metric)` : name,
      rows.map((row) => metricOf(row, name)),
      { isOutcome: true },
    ),
  );
  return [...params, ...metrics].filter((axis) => axis !== undefined);
}
