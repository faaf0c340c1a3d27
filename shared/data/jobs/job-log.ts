import * as z from 'zod';
import {
  chunkName,
  packChunk,
  readChunks,
  readStream,
  readStreamTail,
  type StreamPage,
  unpackChunk,
} from '../packed/chunk-stream.ts';
import type { Item, TableReader, TableWriter } from '../table/table.ts';
import { jobPartition } from './job.ts';
import { heartbeat, type Lease } from './lease.ts';

/** One log line. The job printed it (`stdout`, `stderr`), or the service wrote it about the job (`service`). */
export interface LogLine {
  time: string;
  stream: 'stdout' | 'stderr' | 'service';
  message: string;
}

const letters = { stdout: 'o', stderr: 'e', service: 's' } as const;
const streams = { o: 'stdout', e: 'stderr', s: 'service' } as const;

/** Stored form of a line: epoch milliseconds, a letter for the stream, the text. */
const PackedLine = z.tuple([z.number(), z.enum(['o', 'e', 's']), z.string()]).transform(
  ([time, letter, message]): LogLine => ({
    time: new Date(time).toISOString(),
    stream: streams[letter],
    message,
  }),
);

const logPrefix = (node: number): string => `LOG#${String(node).padStart(2, '0')}#`;

const logStream = (job_id: string, node: number) => ({
  pk: jobPartition(job_id),
  prefix: logPrefix(node),
  unpack: (item: Item) => unpackChunk(item, PackedLine),
});

/**
 * Append lines as chunk `sequence` of this lease, and renew its heartbeat.
 * @throws ConditionFailedError once another holder has the lease
 */
export async function appendLog(
  records: TableWriter<'records'>,
  job_id: string,
  node: number,
  lease: Lease,
  sequence: number,
  lines: readonly LogLine[],
  now: Date,
): Promise<void> {
  const rows = lines.map(({ time, stream, message }) => [Date.parse(time), letters[stream], message]);
  const sk = `${logPrefix(node)}${chunkName(lease.number, sequence)}`;
  await records.write(heartbeat(job_id, node, lease, now), {
    put: await packChunk({ pk: jobPartition(job_id), sk }, rows),
  });
}

/** Lease number of imported lines, which no job of this service wrote. */
const importedLease = 0;

/** Build an item with lines of an imported experiment: chunk `sequence` of a node. */
export const importedLogChunk = (
  job_id: string,
  node: number,
  sequence: number,
  lines: readonly LogLine[],
): Promise<Item> =>
  packChunk(
    { pk: jobPartition(job_id), sk: `${logPrefix(node)}${chunkName(importedLease, sequence)}` },
    lines.map(({ time, stream, message }) => [Date.parse(time), letters[stream], message]),
  );

/** Yield all lines of a node's log in chunks, oldest first. */
export async function* logChunks(
  records: TableReader<'records'>,
  job_id: string,
  node: number,
): AsyncGenerator<LogLine[]> {
  for await (const { rows } of readChunks(records, logStream(job_id, node), undefined)) yield rows;
}

/**
 * Return lines of a node's log from a position on, oldest first. Return at most `limit` lines and about `maxBytes`
 * of text.
 */
export const readLog = (
  records: TableReader<'records'>,
  job_id: string,
  node: number,
  from: string | undefined,
  bounds: { limit: number; maxBytes: number },
): Promise<StreamPage<LogLine>> => readStream(records, logStream(job_id, node), from, bounds);

/** Return the last `count` lines of a node's log, oldest first, with the position after them. */
export const readLogTail = (
  records: TableReader<'records'>,
  job_id: string,
  node: number,
  count: number,
): Promise<StreamPage<LogLine>> => readStreamTail(records, logStream(job_id, node), count);
