import * as z from 'zod';
import { Timestamp } from '../core/formats.ts';
import { badRequest } from '../core/service-error.ts';
import { printableText } from '../core/text/printable-text.ts';
import {
  type FoundLine,
  isCountedPosition,
  type LogLine,
  readLog,
  readLogTail,
  searchLog,
  seekLine,
} from '../data/jobs/job-log.ts';
import { noteWatched } from '../data/jobs/lease.ts';
import { isStreamPosition, type StreamPage } from '../data/packed/chunk-stream.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import { preferredMediaType } from '../http/body/accept.ts';
import { content } from '../http/definition/endpoint-output.ts';
import { streamPaging } from '../http/definition/pagination.ts';
import { integer } from '../http/definition/parameters.ts';
import { Reply } from '../http/definition/reply.ts';

/** Return a page or the tail of the log of a job's node. */
export async function answerLog(
  { records, watch }: { records: TableReader<'records'>; watch: TableWriter<'records'> },
  { job_id, query, accept, now, isComplete }: Question,
): Promise<Reply<(LogLine & Partial<FoundLine>)[]>> {
  const { limit, cursor, tail, node = 0, search, line } = query;
  const isPosition = search === undefined && line === undefined ? isStreamPosition : isCountedPosition;
  if (cursor !== undefined && (tail !== undefined || !isPosition(cursor))) {
    const message = tail === undefined ? 'is not a cursor of this list' : 'and tail cannot be combined';
    throw badRequest([{ in: 'query', name: 'cursor', message }]);
  }
  const [one, other] = Object.entries({ search, line, tail }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (one !== undefined && other !== undefined)
    throw badRequest([{ in: 'query', name: one, message: `and ${other} cannot be combined` }]);
  const isText = preferredMediaType(accept, ['application/json', 'text/plain']) === 'text/plain';
  const complete = await isComplete();
  if (!complete) await noteWatched(watch, job_id, node, now);
  const read = async (): Promise<StreamPage<LogLine & Partial<FoundLine>>> => {
    if (tail !== undefined) return readLogTail(records, job_id, node, tail);
    if (search !== undefined) {
      const bounds = { limit: limit ?? maxFound, maxBytes, maxCharacters };
      return searchLog(records, job_id, node, search, cursor, bounds);
    }
    const lines = { limit: limit ?? Number.POSITIVE_INFINITY, maxBytes };
    if (line === undefined) return readLog(records, job_id, node, cursor, lines);
    const { position, isThere } = await seekLine(records, job_id, node, line, cursor, maxSought);
    return isThere ? readLog(records, job_id, node, position, lines) : { rows: [], position, more: true };
  };
  const { rows, position, more } = await read();
  const isSought = line !== undefined && !isStreamPosition(position);
  // A search ends with the lines that there are, and so does the way to a line.
  const goesOn = more || (!complete && search === undefined && (line === undefined || rows.length > 0));
  const after = {
    after: position,
    query: { limit, node: query.node, search, line: isSought ? line : undefined },
  };
  const next = goesOn ? after : undefined;
  return isText
    ? Reply.content('text/plain; charset=utf-8', asText(rows), { next })
    : Reply.json(rows, { next });
}

interface Question {
  job_id: string;
  query: {
    limit?: number | undefined;
    cursor?: string | undefined;
    tail?: number | undefined;
    node?: number | undefined;
    search?: string | undefined;
    line?: number | undefined;
  };
  accept: string | undefined;
  now: Date;
  /** Whether the log is complete. Call this before the log is read: a complete log gets no more lines. */
  isComplete(): Promise<boolean>;
}

/** Bytes of one page, which AWS bounds at 6 MB. */
const maxBytes = 3_000_000;

/** Lines of one page of a search. */
const maxFound = 1_000;

/** Characters that a search reads for one page: some 0.4 s. */
const maxCharacters = 20_000_000;

/** Packed bytes that one page reads on the way to a line: some 500,000 lines. */
const maxSought = 10_000_000;

/**
 * Format the lines as text without control sequences. Such a sequence could clear the reader's screen or change
 * the clipboard.
 */
const asText = (lines: readonly LogLine[]): string =>
  lines.map(({ message }) => `${printableText(message)}\n`).join('');

/** Query parameters of every log. */
export const logQuery = {
  ...streamPaging(10_000),
  tail: integer(1, 10_000)
    .optional()
    .describe('Number of last lines to return instead of a page, such as `100`.'),
};

export const LogLineAnswer = z.object({
  time: Timestamp,
  stream: z.enum(['stdout', 'stderr', 'service']),
  message: z.string(),
});

/** A line that a search has found. */
const FoundLineAnswer = LogLineAnswer.extend({
  number: z.number().int().optional().describe('Number of the line in the log, from 0; only in a search.'),
});

/** Log as JSON, or as plain text, depending on `Accept`. */
export const LogAnswer = content(['text/plain'], z.array(LogLineAnswer));

/** The same, or what a search has found. */
export const SearchableLogAnswer = content(['text/plain'], z.array(FoundLineAnswer));
