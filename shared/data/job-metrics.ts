import * as z from 'zod';
import { chunkName, packChunk, readStream, type StreamPage } from './chunk-stream.ts';
import { jobPartition } from './job.ts';
import { heartbeat, type Lease } from './lease.ts';
import type { TableReader, TableWriter } from './table.ts';

export const MetricPoint = z.object({
  name: z.string(),
  value: z.number(),
  step: z.number().nullable(),
  time: z.iso.datetime({ precision: 3 }),
});
/** One value of a metric that a job reported. */
export type MetricPoint = z.infer<typeof MetricPoint>;

const prefix = 'METRIC#';

/** Appends points as chunk `sequence` of this lease. @throws ConditionFailedError once superseded */
export async function appendMetrics(
  records: TableWriter<'records'>,
  job_id: string,
  lease: Lease,
  sequence: number,
  points: readonly MetricPoint[],
  now: Date,
): Promise<void> {
  const sk = `${prefix}${chunkName(lease.number, sequence)}`;
  await records.write(heartbeat(job_id, 0, lease, now), {
    put: await packChunk({ pk: jobPartition(job_id), sk }, points),
  });
}

/** Points from a position on, in the order in which they were reported. */
export const readMetrics = (
  records: TableReader<'records'>,
  job_id: string,
  from: string | undefined,
  bounds: { limit: number; maxBytes: number },
): Promise<StreamPage<MetricPoint>> =>
  readStream(records, { pk: jobPartition(job_id), prefix, row: MetricPoint }, from, bounds);
