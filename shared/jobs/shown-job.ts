import * as z from 'zod';
import { Capacity, CapacityType } from '../core/capacity/capacity.ts';
import { Timestamp } from '../core/formats.ts';
import { Attempt, SizeLimits } from '../data/jobs/job.ts';
import { isFinal, JobStatus } from '../data/jobs/job-status.ts';
import { actualCost, attemptCost, type PaidJob } from './cost.ts';
import type { JobRecord } from './job-record.ts';
import { SpotAnswer, spotAnswer } from './spot/spot.ts';

const ShownAttempt = Attempt.extend({
  capacity_type: CapacityType.nullable().describe(
    'Where it ran. Null in jobs of releases that did not record it.',
  ),
  seconds: z.number().nullable().describe('Seconds from its start to its stop. Null if it did not start.'),
  cost: z.number().nullable().describe('US dollars. Null if it did not start, or compute has no price.'),
});

/** Response fields of all kinds of jobs. Sizes are per node. */
export const shownJob = {
  status: JobStatus,
  status_reason: z.string().nullable(),
  attempt: z.number().int(),
  attempts: z.array(ShownAttempt),
  capacity: Capacity.nullable().describe(
    'Where it may run. Null for jobs of releases that did not record it.',
  ),
  spot: SpotAnswer.nullable().describe('What Spot did for it. Null for a job that does not run there.'),
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
): Omit<Job, 'attempts'> & Computed {
  return {
    ...job,
    place_in_line: job.place_in_line ?? null,
    attempts: attemptsOf(job).map((attempt) => showAttempt(job, attempt)),
    capacity: job.capacity ?? null,
    spot: spotAnswer(job),
    duration: durationOf(job, now),
    cost: actualCost(job),
  };
}

type Recorded = Omit<PaidJob, 'attempts'> &
  Pick<
    JobRecord,
    | 'status'
    | 'status_reason'
    | 'attempt'
    | 'batch_attempt'
    | 'attempts'
    | 'exit_code'
    | 'capacity'
    | 'former_attempts'
  >;

interface Computed {
  place_in_line: number | null;
  attempts: z.infer<typeof ShownAttempt>[];
  capacity: Capacity | null;
  spot: z.infer<typeof SpotAnswer> | null;
  duration: number | null;
  cost: number | null;
}

function showAttempt(job: Recorded, attempt: Attempt): z.infer<typeof ShownAttempt> {
  const { started_at, stopped_at, capacity_type = null } = attempt;
  const hasRun = started_at !== null && stopped_at !== null;
  return {
    ...attempt,
    capacity_type,
    seconds: hasRun ? durationOf(attempt, new Date(0)) : null,
    cost: hasRun ? attemptCost(job, attempt) : null,
  };
}

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
    ...(job.capacity_type !== undefined && { capacity_type: job.capacity_type }),
  };
  return [...attempts, last];
}
