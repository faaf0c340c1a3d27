import * as z from 'zod';
import { Attempt } from '../data/job.ts';
import { JobStatus } from '../data/job-status.ts';
import { Timestamp } from '../endpoint/parameters.ts';
import { actualCost } from './cost.ts';

/** What callers see of every job's life, whatever the job does. Sizes are per node. */
export const shownJob = {
  status: JobStatus,
  status_reason: z.string().nullable(),
  attempt: z.number().int(),
  attempts: z.array(Attempt),
  exit_code: z.number().int().nullable(),
  signal: z.string().nullable(),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  stopped_at: Timestamp.nullable(),
  /** Seconds from start to stop, or to now. */
  duration: z.number().nullable(),
  vcpus: z.number(),
  /** MiB. */
  memory: z.number().int(),
  /** Seconds. */
  timeout: z.number().int(),
  /** US dollars for an attempt that takes all its time; null where compute has no price. */
  cost_estimate: z.number().nullable(),
  /** US dollars that it did cost, once it has ended. */
  cost: z.number().nullable(),
};

/** A job with what is not recorded but follows from the record at this moment. */
export function showJob<Job extends Parameters<typeof actualCost>[0]>(
  job: Job,
  now: Date,
): Job & { duration: number | null; cost: number | null } {
  const { started_at, stopped_at } = job;
  const end = stopped_at === null ? now.getTime() : Date.parse(stopped_at);
  const duration = started_at === null ? null : Math.max(0, end - Date.parse(started_at)) / 1000;
  return { ...job, duration, cost: actualCost(job) };
}
