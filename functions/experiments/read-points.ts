import type { StreamPage } from '../../shared/data/chunk-stream.ts';
import { type MetricPoint, readMetrics } from '../../shared/data/job-metrics.ts';
import type { TableReader } from '../../shared/data/table.ts';

type Records = TableReader<'records'>;

/** Points read at once: so many of the usual ones make 4 MB of JSON. */
const readMost = 40_000;
const maxBytes = 3_000_000;
/** JSON of a point besides its name, at most. */
const pointBytes = 130;

/** Points of a job from a position on: at most `limit`, of one metric where `name` is given. */
export async function readPoints(
  records: Records,
  job_id: string,
  name: string | undefined,
  from: string | undefined,
  limit = readMost,
): Promise<StreamPage<MetricPoint>> {
  if (name === undefined) return readMetrics(records, job_id, from, { limit, maxBytes });
  const most = Math.min(limit, Math.floor(maxBytes / (Buffer.byteLength(JSON.stringify(name)) + pointBytes)));
  const rows: MetricPoint[] = [];
  let position = from;
  for (;;) {
    const page = await readMetrics(records, job_id, position, { limit: readMost, maxBytes });
    const room = most - rows.length;
    const found = page.rows.flatMap((row, index) => (row.name === name ? [{ row, index }] : []));
    rows.push(...found.slice(0, room).map(({ row }) => row));
    const cut = found.length > room ? found[room - 1] : undefined;
    if (cut !== undefined) {
      // Read once more as far as the last point that is answered, for the position after it.
      const { position: after } = await readMetrics(records, job_id, position, {
        limit: cut.index + 1,
        maxBytes,
      });
      return { rows, position: after, more: true };
    }
    if (!page.more || rows.length === most) return { rows, position: page.position, more: page.more };
    position = page.position;
  }
}

/** All points of a job in the order of report, page by page. */
export async function* everyPoint(
  records: Records,
  job_id: string,
  name: string | undefined,
): AsyncGenerator<MetricPoint[]> {
  for (let position: string | undefined; ; ) {
    const page = await readPoints(records, job_id, name, position);
    yield page.rows;
    if (!page.more) return;
    position = page.position;
  }
}
