import * as z from 'zod';
import { isoTime, Timestamp } from '../core/formats.ts';
import { isWellFormed } from '../core/text/well-formed.ts';
import type { LogLine } from '../data/jobs/job-log.ts';
import type { MetricPoint } from '../data/metrics/metric-summary.ts';
import { AnyTrackedName } from '../data/rules/tracked.ts';
import { StoredNumber, storedNumber } from '../data/table/stored-number.ts';

/** Most bytes of a line: what a chunk takes. */
export const lineMaxBytes = 250_000;

/** A point of a metric as a line: name, value, step and time. */
export const pointLine = ({ name, value, step, time }: MetricPoint): string =>
  `${JSON.stringify([name, storedNumber(value), step, isoTime(time)])}\n`;

/** A line that a job printed as a line: time, stream and text. */
export const logLine = ({ time, stream, message }: LogLine): string =>
  `${JSON.stringify([time, stream, message])}\n`;

/** Names that were checked before; a run has few, and points by the million. */
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

/** What a line says, where `write` would write just this line of it; undefined otherwise. */
function read<T>(line: string, schema: z.ZodType<T>, write: (value: T) => string): T | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { success, data } = schema.safeParse(value);
  return success && isWellFormed(data) && write(data) === `${line}\n` ? data : undefined;
}

export const readPoint = (line: string): MetricPoint | undefined => read(line, PointLine, pointLine);
export const readLine = (line: string): LogLine | undefined => read(line, PrintedLine, logLine);
