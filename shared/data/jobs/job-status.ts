import * as z from 'zod';

/** Statuses of a job in the order of its life. The last three are final. */
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

/** Rank of all final statuses. No status follows them, not even another final one. */
export const finalRank = jobStatuses.indexOf('SUCCEEDED');

/** Return the rank of a status. Within an attempt, the rank of a job only grows. */
export const rankOf = (status: JobStatus): number => Math.min(jobStatuses.indexOf(status), finalRank);

export const isFinal = (status: JobStatus): status is FinalStatus => rankOf(status) === finalRank;
