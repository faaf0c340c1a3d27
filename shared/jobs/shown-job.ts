import * as z from 'zod';
import { Timestamp } from '../core/formats.ts';
import { Attempt, SizeLimits } from '../data/jobs/job.ts';
import { isFinal, JobStatus } from '../data/jobs/job-status.ts';
import { actualCost } from './cost.ts';
import type { JobRecord } from './job-record.ts';

/** Response fields of all kinds of jobs. Sizes are per node. */
export const shownJob = {
  status: JobStatus,
  status_reason: z.string().nullable(),
  attempt: z.number().int(),
  attempts: z.array(Attempt),
  exit_code: z.number().int().nullable(),
  signal: z.string().nullable(),
  created_at: Timestamp,
  /** Position in the line of its user. Null if it does not wait for a place. */
  place_in_line: z.number().int().nullable(),
  /** Time at which it left the line. Null if it never waited in line. */
  begun_at: Timestamp.nullable(),
  started_at: Timestamp.nullable(),
  stopped_at: Timestamp.nullable(),
  /** Seconds from start to stop, or to now. Null before the start. */
  duration: z.number().nullable(),
  vcpus: z.number(),
  /** MiB. */
  memory: z.number().int(),
  /** How `memory` and `vcpus` are enforced. Null for jobs of releases that did not record it. */
  limits: SizeLimits.nullable(),
  /** Seconds. */
  timeout: z.number().int(),
  /** US dollars for an attempt that reaches its timeout. Null if compute has no price. */
  cost_estimate: z.number().nullable(),
  /** Actual cost in US dollars. Null before its end. */
  cost: z.number().nullable(),
};

/** Add the fields that are computed at read time: attempts, duration and cost. */
export function showJob<Job extends Recorded>(
  job: Job & { place_in_line?: number | null },
  now: Date,
): Job & { place_in_line: number | null; duration: number | null; cost: number | null } {
  const duration = durationOf(job, now);
  const place_in_line = job.place_in_line ?? null;
  return { ...job, place_in_line, attempts: attemptsOf(job), duration, cost: actualCost(job) };
}

type Recorded = Parameters<typeof actualCost>[0] &
  Pick<JobRecord, 'status' | 'status_reason' | 'attempt' | 'batch_attempt' | 'attempts' | 'exit_code'>;

/** Return the seconds from start to stop, or to now. Return null before the start. */
export function durationOf(
  { started_at, stopped_at }: Pick<JobRecord, 'started_at' | 'stopped_at'>,
  now: Date,
): number | null {
  const end = stopped_at === null ? now.getTime() : Date.parse(stopped_at);
  return started_at === null ? null : Math.max(0, end - Date.parse(started_at)) / 1000;
}

/**
 * Return the attempts that have ended, including the last. Batch reports an attempt some time after its end, so
 * the last attempt may be missing. It is then added from the record. Jobs of earlier releases know the start only of
 * the first attempt.
 */
function attemptsOf(job: Recorded): Recorded['attempts'] {
  const { attempts, attempt, batch_attempt, attempt_started_at, stopped_at, exit_code, status_reason } = job;
  const number = attempts.length + 1;
  if (!isFinal(job.status) || number > Math.max(attempt, batch_attempt)) return attempts;
  const last = {
    attempt: number,
    started_at: attempt_started_at ?? (number === 1 ? job.started_at : null),
    stopped_at,
    exit_code,
    reason: status_reason,
  };
  return [...attempts, last];
}
