import * as z from 'zod';
import { Timestamp } from '../core/formats.ts';
import { badRequest } from '../core/service-error.ts';
import { printableText } from '../core/text/printable-text.ts';
import {
  type FoundLine,
  isSearchPosition,
  type LogLine,
  readLog,
  readLogTail,
  searchLog,
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
  { job_id, query, accept, now, isComplete, cursorOf = (at) => at }: Question,
): Promise<Reply<(LogLine & Partial<FoundLine>)[]>> {
  const { limit, cursor, tail, node = 0, search } = query;
  const isPosition = search === undefined ? isStreamPosition : isSearchPosition;
  if (cursor !== undefined && (tail !== undefined || !isPosition(cursor))) {
    const message = tail === undefined ? 'is not a cursor of this list' : 'and tail cannot be combined';
    throw badRequest([{ in: 'query', name: 'cursor', message }]);
  }
  if (search !== undefined && tail !== undefined)
    throw badRequest([{ in: 'query', name: 'search', message: 'and tail cannot be combined' }]);
  const isText = preferredMediaType(accept, ['application/json', 'text/plain']) === 'text/plain';
  const complete = await isComplete();
  if (!complete) await noteWatched(watch, job_id, node, now);
  const read = async (): Promise<StreamPage<LogLine & Partial<FoundLine>>> => {
    if (tail !== undefined) return readLogTail(records, job_id, node, tail);
    if (search === undefined)
      return readLog(records, job_id, node, cursor, { limit: limit ?? Number.POSITIVE_INFINITY, maxBytes });
    const bounds = { limit: limit ?? maxFound, maxBytes, maxCharacters };
    const found = await searchLog(records, job_id, node, search, cursor, bounds);
    return { ...found, rows: found.rows.map(({ at, ...line }) => ({ ...line, at: cursorOf(at) })) };
  };
  const { rows, position, more } = await read();
  // A search ends with the lines that there are.
  const goesOn = more || (search === undefined && !complete);
  const next = goesOn ? { after: position, query: { limit, node: query.node, search } } : undefined;
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
  };
  accept: string | undefined;
  now: Date;
  /** Whether the log is complete. Call this before the log is read: a complete log gets no more lines. */
  isComplete(): Promise<boolean>;
  /** Return the cursor of the whole log from a position on. */
  cursorOf?(at: string): string;
}

/** Bytes of one page, which AWS bounds at 6 MB. */
const maxBytes = 3_000_000;

/** Lines of one page of a search. */
const maxFound = 1_000;

/** Characters that a search reads for one page: some 0.4 s. */
const maxCharacters = 20_000_000;

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
  at: z
    .string()
    .optional()
    .describe('`cursor` of the log from some lines before this one on; only in a search.'),
  before: z
    .number()
    .int()
    .optional()
    .describe('Number of the lines from `at` to this one; only in a search.'),
});

/** Log as JSON, or as plain text, depending on `Accept`. */
export const LogAnswer = content(['text/plain'], z.array(LogLineAnswer));

/** The same, or what a search has found. */
export const SearchableLogAnswer = content(['text/plain'], z.array(FoundLineAnswer));
