import type { MetricPoint } from '../../../../shared/data/metrics/metric-summary.ts';
import type { TableReader } from '../../../../shared/data/table/table.ts';
import { readPoints, type WantedPoints } from '../../../../shared/experiments/read-points.ts';

/** Yield all points of a job in report order, page by page. */
export async function* everyPoint(
  records: TableReader<'records'>,
  job_id: string,
  wantedPoints: WantedPoints,
): AsyncGenerator<MetricPoint[]> {
  for (let position: string | undefined; ; ) {
    const page = await readPoints(records, job_id, wantedPoints, position);
    yield page.rows;
    if (!page.more) return;
    position = page.position;
  }
}
