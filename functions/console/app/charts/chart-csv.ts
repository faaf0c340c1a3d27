import { csvLines } from '../../../../shared/core/text/csv-lines.ts';
import type { Line } from './series.ts';

/** Return the reported values of a chart as CSV: a column for each line, a row for each place on the horizontal axis. */
export function chartCsv({
  axisName,
  lines,
}: {
  axisName: string;
  lines: readonly { label: string; raw: Line }[];
}): string {
  const rows = new Map<number, (number | undefined)[]>();
  for (const [at, { raw }] of lines.entries())
    for (const [index, x] of raw.xs.entries()) {
      const row = rows.get(x) ?? new Array<number | undefined>(lines.length).fill(undefined);
      row[at] = raw.ys[index];
      rows.set(x, row);
    }
  const sorted = [...rows].sort(([one], [other]) => one - other);
  return csvLines([
    [axisName, ...lines.map(({ label }) => label)],
    ...sorted.map(([x, values]) => [x, ...values]),
  ]);
}
