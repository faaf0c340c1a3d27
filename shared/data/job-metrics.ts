import * as z from 'zod';
import { chunkName, packChunk, readChunks, readStream, type StreamPage } from './chunk-stream.ts';
import { jobPartition } from './job.ts';
import { heartbeat, type Lease } from './lease.ts';
import { StoredNumber, storedNumber } from './stored-number.ts';
import type { Item, TableReader, TableWriter, Write } from './table.ts';

export const MetricPoint = z.object({
  name: z.string(),
  value: StoredNumber,
  step: z.number().nullable(),
  time: z.iso.datetime({ precision: 3 }),
});
/** One value of a metric that a job reported. */
export type MetricPoint = z.infer<typeof MetricPoint>;

const prefix = 'METRIC#';

/** An item with points: chunk `sequence` of what a lease writes. Leases count from 1; 0 is for points that no job writes. */
export const metricChunk = (
  job_id: string,
  lease: number,
  sequence: number,
  points: readonly MetricPoint[],
): Promise<Item> =>
  packChunk(
    { pk: jobPartition(job_id), sk: `${prefix}${chunkName(lease, sequence)}` },
    points.map((point) => ({ ...point, value: storedNumber(point.value) })),
  );

/** Appends points as chunk `sequence` of this lease, together with `also`. @throws ConditionFailedError once superseded */
export async function appendMetrics(
  records: TableWriter<'records'>,
  job_id: string,
  lease: Lease,
  sequence: number,
  points: readonly MetricPoint[],
  now: Date,
  ...also: readonly Write[]
): Promise<void> {
  const put = await metricChunk(job_id, lease.number, sequence, points);
  await records.write(heartbeat(job_id, 0, lease, now), { put }, ...also);
}

/** Chunks of points behind one of this name, in the order in which they were reported. */
export const metricChunks = (
  records: TableReader<'records'>,
  job_id: string,
  behind: string | undefined,
): AsyncGenerator<{ name: string; rows: MetricPoint[] }> =>
  readChunks(records, { pk: jobPartition(job_id), prefix, row: MetricPoint }, behind);

/** Points from a position on, in the order in which they were reported. */
export const readMetrics = (
  records: TableReader<'records'>,
  job_id: string,
  from: string | undefined,
  bounds: { limit: number; maxBytes: number },
): Promise<StreamPage<MetricPoint>> =>
  readStream(records, { pk: jobPartition(job_id), prefix, row: MetricPoint }, from, bounds);
