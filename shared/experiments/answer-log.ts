import * as z from 'zod';
import { Timestamp } from '../core/formats.ts';
import { badRequest } from '../core/service-error.ts';
import { printableText } from '../core/text/printable-text.ts';
import { type LogLine, readLog, readLogTail } from '../data/jobs/job-log.ts';
import { noteWatched } from '../data/jobs/lease.ts';
import { isStreamPosition } from '../data/packed/chunk-stream.ts';
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
): Promise<Reply<LogLine[]>> {
  const { limit, cursor, tail, node = 0 } = query;
  if (cursor !== undefined && (tail !== undefined || !isStreamPosition(cursor))) {
    const message = tail === undefined ? 'is not a cursor of this list' : 'and tail cannot be combined';
    throw badRequest([{ in: 'query', name: 'cursor', message }]);
  }
  const complete = await isComplete();
  if (!complete) await noteWatched(watch, job_id, node, now);
  const { rows, position, more } =
    tail === undefined
      ? await readLog(records, job_id, node, cursor, {
          limit: limit ?? Number.POSITIVE_INFINITY,
          maxBytes: 3_000_000,
        })
      : await readLogTail(records, job_id, node, tail);
  const next = more || !complete ? { after: position, query: { limit, node: query.node } } : undefined;
  const isText = preferredMediaType(accept, ['application/json', 'text/plain']) === 'text/plain';
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
  };
  accept: string | undefined;
  now: Date;
  /** Whether the log is complete. Call this before the log is read: a complete log gets no more lines. */
  isComplete(): Promise<boolean>;
}

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

/** Log as JSON, or as plain text, depending on `Accept`. */
export const LogAnswer = content(['text/plain'], z.array(LogLineAnswer));
