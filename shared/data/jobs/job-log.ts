import * as z from 'zod';
import { breathe } from '../../core/stop-signal.ts';
import {
  chunkItems,
  chunkName,
  chunkRows,
  chunkText,
  isStreamPosition,
  packChunk,
  placeOf,
  readChunks,
  readStream,
  readStreamTail,
  rowsOf,
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

/** A line that a search has found. */
export interface FoundLine extends LogLine {
  /** Its number in the log, from 0. */
  number: number;
  /** Position from which {@link readLog} reads, and the number of lines from there to it. */
  at: string;
  before: number;
}

/** Lines before a found one that its position includes, where the same search has read them. */
const context = 50;

/** Position of a search: that of a log, and the number of the line there. */
const searchPositionPattern = /^([^@]+)@(\d{1,12})$/;

export const isSearchPosition = (text: string): boolean =>
  isStreamPosition(searchPositionPattern.exec(text)?.[1] ?? '');

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
  const [, position, numbered = '0'] = searchPositionPattern.exec(from ?? '') ?? [];
  const { behind, skip: skipped } = placeOf(position);
  const words = wanted.toLowerCase();
  // A chunk whose JSON does not have the text is not parsed.
  const inJson = JSON.stringify(words).slice(1, -1).toLowerCase();
  const rows: FoundLine[] = [];
  /** Chunks of the lines before the present one: the name of the chunk before each, and the number of its first line. */
  let read: { behind: string; first: number }[] = [];
  let last = behind ?? '';
  let first = Number(numbered) - skipped;
  let skip = skipped;
  let characters = 0;
  let bytes = 0;
  const page = (index: number, more: boolean) => ({
    rows,
    position: `${last}:${index}@${first + index}`,
    more,
  });
  for await (const { name, item } of chunkItems(records, logStream(job_id, node), behind)) {
    if (characters > maxCharacters) return page(skip, true);
    read = [
      ...read.filter((_, at) => (read[at + 1]?.first ?? first) > first - context),
      { behind: last, first },
    ];
    const text = await chunkText(item);
    characters += text.length;
    if (text.toLowerCase().includes(inJson))
      for (const [index, line] of rowsOf(text, PackedLine).entries()) {
        if (index < skip || !line.message.toLowerCase().includes(words)) continue;
        if (rows.length === limit || bytes > maxBytes) return page(index, true);
        const number = first + index;
        const begin = Math.max(number - context, read[0]?.first ?? first);
        const start = read.findLast((chunk) => chunk.first <= begin);
        const at = `${start?.behind ?? ''}:${begin - (start?.first ?? 0)}`;
        rows.push({ ...line, number, at, before: number - begin });
        bytes += Buffer.byteLength(JSON.stringify(rows.at(-1)));
      }
    first += chunkRows(item);
    last = name;
    skip = 0;
    await breathe();
  }
  return page(skip, false);
}

/** Return the last `count` lines of a node's log, oldest first, with the position after them. */
export const readLogTail = (
  records: TableReader<'records'>,
  job_id: string,
  node: number,
  count: number,
): Promise<StreamPage<LogLine>> => readStreamTail(records, logStream(job_id, node), count);
