import { jobPartition } from '../jobs/job.ts';
import { heartbeat, type Lease } from '../jobs/lease.ts';
import {
  chunkItems,
  chunkName,
  chunkRows,
  readStream,
  type StreamPage,
  unpackChunk,
} from '../packed/chunk-stream.ts';
import type { Item, TableReader, TableWriter, Write } from '../table/table.ts';
import { type MetricPoint, MetricPointRow } from './metric-point.ts';
import {
  type PointColumns,
  packPoints,
  pointChunk,
  pointColumns,
  pointsIn,
  unpackPoints,
} from './point-columns.ts';

const prefix = 'METRIC#';

/** An item with points: chunk `sequence` of what a lease writes. Leases count from 1; 0 is for points that no job writes. */
export const metricChunk = (
  job_id: string,
  lease: number,
  sequence: number,
  points: readonly MetricPoint[],
): Item => packPoints({ pk: jobPartition(job_id), sk: `${prefix}${chunkName(lease, sequence)}` }, points);

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
  const put = metricChunk(job_id, lease.number, sequence, points);
  await records.write(heartbeat(job_id, 0, lease, now), { put }, ...also);
}

/** The columns of a chunk; a release without columns wrote rows. */
const columnsOf = async (item: Item): Promise<PointColumns> =>
  pointChunk.isOf(item) ? unpackPoints(item) : pointColumns(await unpackChunk(item, MetricPointRow));

/** A chunk of points, which is unpacked where it is wanted. */
export interface MetricChunk {
  name: string;
  /** How many points it has. */
  rows: number;
  read(): Promise<PointColumns>;
}

const rowsOf = (item: Item): number => (pointChunk.isOf(item) ? pointChunk.rows(item) : chunkRows(item));

/** Chunks of points behind one of this name, in the order in which they were reported. */
export async function* metricChunks(
  records: TableReader<'records'>,
  job_id: string,
  behind: string | undefined,
): AsyncGenerator<MetricChunk> {
  for await (const { name, item } of chunkItems(records, { pk: jobPartition(job_id), prefix }, behind))
    yield { name, rows: rowsOf(item), read: () => columnsOf(item) };
}

/** Points from a position on, in the order in which they were reported. */
export const readMetrics = (
  records: TableReader<'records'>,
  job_id: string,
  from: string | undefined,
  bounds: { limit: number; maxBytes: number },
): Promise<StreamPage<MetricPoint>> => {
  const unpack = async (item: Item) => pointsIn(await columnsOf(item));
  return readStream(records, { pk: jobPartition(job_id), prefix, unpack }, from, bounds);
};
