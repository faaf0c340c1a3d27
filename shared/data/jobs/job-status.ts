import * as z from 'zod';

/** Statuses of a job in the order in which it passes through them; the last three are final. */
export const jobStatuses = [
  'CREATED',
  'SUBMITTED',
  'PENDING',
  'RUNNABLE',
  'STARTING',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
] as const;
export const JobStatus = z.enum(jobStatuses);
export type JobStatus = z.infer<typeof JobStatus>;
export type FinalStatus = 'SUCCEEDED' | 'FAILED' | 'CANCELLED';

/** Rank that all final statuses share: nothing follows them, not even one another. */
export const finalRank = jobStatuses.indexOf('SUCCEEDED');

/** Position of a status on a job's way. Within an attempt a job's rank only grows. */
export const rankOf = (status: JobStatus): number => Math.min(jobStatuses.indexOf(status), finalRank);

export const isFinal = (status: JobStatus): status is FinalStatus => rankOf(status) === finalRank;
