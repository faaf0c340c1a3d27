import * as z from 'zod';
import { isoTime, Timestamp } from '../core/formats.ts';
import { tryParseJson } from '../core/text/try-parse-json.ts';
import { isWellFormed } from '../core/text/well-formed.ts';
import { AnyTrackedName } from '../data/experiments/tracking-rules.ts';
import type { LogLine } from '../data/jobs/job-log.ts';
import type { MetricPoint } from '../data/metrics/metric-summary.ts';
import { StoredNumber, storedNumber } from '../data/table/stored-number.ts';
import { fault } from './project-archive-error.ts';

/** Maximum bytes of a line: the capacity of a chunk. */
export const lineMaxBytes = 250_000;

/** Format a point of a metric as a line: name, value, step and time. */
export const pointLine = ({ name, value, step, time }: MetricPoint): string =>
  `${JSON.stringify([name, storedNumber(value), step, isoTime(time)])}\n`;

/** Format a log line of a job: time, stream and text. */
export const logLine = ({ time, stream, message }: LogLine): string =>
  `${JSON.stringify([time, stream, message])}\n`;

/** Names that were already checked. A run has few names but millions of points. */
let known = new Set<string>();

const PointName = z.custom<string>((name) => {
  if (typeof name !== 'string') return false;
  if (known.has(name)) return true;
  if (!AnyTrackedName.safeParse(name).success) return false;
  if (known.size >= 10_000) known = new Set();
  known.add(name);
  return true;
});

const PointLine = z
  .tuple([PointName, StoredNumber, z.number().nullable(), Timestamp])
  .transform(([name, value, step, time]): MetricPoint => ({ name, value, step, time: Date.parse(time) }));

const PrintedLine = z
  .tuple([Timestamp, z.enum(['stdout', 'stderr', 'service']), z.string()])
  .transform(([time, stream, message]): LogLine => ({ time, stream, message }));

/** Parse a line; undefined if `write` would not produce exactly this line. */
function read<T>(line: string, schema: z.ZodType<T>, write: (value: T) => string): T | undefined {
  const { success, data } = schema.safeParse(tryParseJson(line));
  return success && isWellFormed(data) && write(data) === `${line}\n` ? data : undefined;
}

export const readPoint = (line: string): MetricPoint | undefined => read(line, PointLine, pointLine);
export const readLine = (line: string): LogLine | undefined => read(line, PrintedLine, logLine);

/**
 * Yield the lines of a byte stream without their newlines. Every line must end with a newline.
 * @throws ProjectArchiveError for a line of more than `most` bytes, or without a newline
 */
export async function* readLines(bytes: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = all.indexOf(10, from); end >= 0; end = all.indexOf(10, from)) {
      yield all.toString('utf8', from, end);
      from = end + 1;
    }
    rest = all.subarray(from);
    if (rest.length > most) throw fault(`a line has more than ${most} bytes`);
  }
  if (rest.length > 0) throw fault('a list ends in the middle of a line');
}
