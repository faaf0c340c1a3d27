import { type Axis, axisOf } from '../../charts/values/axis.ts';
import { metricOf, paramOf, type Row } from '../row.ts';

/** Return an axis for each param and each metric's last value of some experiments. */
export function axesOfRows(rows: readonly Row[]): Axis[] {
  const names = (read: (row: Row) => object) =>
    [...new Set(rows.flatMap((row) => Object.keys(read(row))))].sort();
  const params = names((row) => row.params).map((name) =>
    axisOf(
      name,
      rows.map((row) => paramOf(row, name)),
    ),
  );
  const metrics = names((row) => row.metrics).map((name) =>
    axisOf(
      name,
      rows.map((row) => metricOf(row, name)),
      { isOutcome: true },
    ),
  );
  return [...params, ...metrics].filter((axis) => axis !== undefined);
}
