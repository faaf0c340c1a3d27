import * as z from 'zod';
import { breathe } from '../../core/stop-signal.ts';
import {
  chunkItems,
  chunkName,
  chunkText,
  isStreamPosition,
  packChunk,
  placeOf,
  readChunks,
  readStream,
  readStreamTail,
  rowsOf,
  type StreamPage,
  sizeOfChunk,
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
  const put = await logChunk(job_id, node, lease.number, sequence, lines);
  await records.write(heartbeat(job_id, node, lease, now), { put });
}

/** Build an item with lines: chunk `sequence` of a lease. */
export const logChunk = (
  job_id: string,
  node: number,
  lease: number,
  sequence: number,
  lines: readonly LogLine[],
): Promise<Item> =>
  packChunk(
    { pk: jobPartition(job_id), sk: `${logPrefix(node)}${chunkName(lease, sequence)}` },
    lines.map(({ time, stream, message }) => [Date.parse(time), letters[stream], message]),
  );

/** Lease number of imported lines, which no job of this service wrote. */
const importedLease = 0;

/** Build an item with lines of an imported experiment: chunk `sequence` of a node. */
export const importedLogChunk = (
  job_id: string,
  node: number,
  sequence: number,
  lines: readonly LogLine[],
): Promise<Item> => logChunk(job_id, node, importedLease, sequence, lines);

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

/** A line that a search has found, with its number in the log, from 0. */
export interface FoundLine extends LogLine {
  number: number;
}

/** Position of a search: that of a log, and the number of the line there. */
const countedPattern = /^([^@]+)@(\d{1,12})$/;

/** Whether a text is a position from {@link searchLog} or {@link seekLine}. */
export const isCountedPosition = (text: string): boolean =>
  isStreamPosition(countedPattern.exec(text)?.[1] ?? '');

/** Return the chunk behind which a position is, the lines of the next chunk before it, and the number of that chunk's first line. */
function countedPlace(from: string | undefined): { last: string; skip: number; first: number } {
  const [, position, number = '0'] = countedPattern.exec(from ?? '') ?? [];
  const { behind = '', skip } = placeOf(position);
  return { last: behind, skip, first: Number(number) - skip };
}

/**
 * Find the lines of a node's log that have a text, without case, from a position on. Return at most `limit` lines and about
 * `maxBytes` of JSON, and read about `maxCharacters` of the log, so a page may have none and yet a next one.
 */
export async function searchLog(
  records: TableReader<'records'>,
  job_id: string,
  node: number,
  wanted: string,
  from: string | undefined,
  { limit, maxBytes, maxCharacters }: { limit: number; maxBytes: number; maxCharacters: number },
): Promise<StreamPage<FoundLine>> {
  const words = wanted.toLowerCase();
  // A chunk whose JSON does not have the text is not parsed.
  const inJson = JSON.stringify(words).slice(1, -1).toLowerCase();
  const rows: FoundLine[] = [];
  let { last, skip, first } = countedPlace(from);
  let characters = 0;
  let bytes = 0;
  const page = (index: number, more: boolean) => ({
    rows,
    position: `${last}:${index}@${first + index}`,
    more,
  });
  for await (const { name, item } of chunkItems(records, logStream(job_id, node), last || undefined)) {
    if (characters > maxCharacters) return page(skip, true);
    const text = await chunkText(item);
    characters += text.length;
    if (text.toLowerCase().includes(inJson))
      for (const [index, line] of rowsOf(text, PackedLine).entries()) {
        if (index < skip || !line.message.toLowerCase().includes(words)) continue;
        if (rows.length === limit || bytes > maxBytes) return page(index, true);
        rows.push({ ...line, number: first + index });
        bytes += Buffer.byteLength(JSON.stringify(rows.at(-1)));
      }
    first += sizeOfChunk(item).rows;
    last = name;
    skip = 0;
    await breathe();
  }
  return page(skip, false);
}

/**
 * Return the position of the line with a number, from 0, or the end of a shorter log. It unpacks nothing, and reads about `maxBytes`
 * beyond a position `from`. If that is not enough, `isThere` is false, and the position is where to go on.
 */
export async function seekLine(
  records: TableReader<'records'>,
  job_id: string,
  node: number,
  line: number,
  from: string | undefined,
  maxBytes: number,
): Promise<{ position: string; isThere: boolean }> {
  let { last, first } = countedPlace(from);
  let read = 0;
  for await (const { name, item } of chunkItems(records, logStream(job_id, node), last || undefined)) {
    if (read > maxBytes) return { position: `${last}:0@${first}`, isThere: false };
    const { rows, bytes } = sizeOfChunk(item);
    if (first + rows > line) return { position: `${last}:${Math.max(0, line - first)}`, isThere: true };
    read += bytes;
    first += rows;
    last = name;
    await breathe();
  }
  return { position: `${last}:0`, isThere: true };
}

/** Return the last `count` lines of a node's log, oldest first, with the position after them. */
export const readLogTail = (
  records: TableReader<'records'>,
  job_id: string,
  node: number,
  count: number,
): Promise<StreamPage<LogLine>> => readStreamTail(records, logStream(job_id, node), count);
