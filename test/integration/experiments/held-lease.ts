import type { Lease } from '../../../shared/data/jobs/lease.ts';

export const time = '2026-01-02T03:04:06.000Z';

/** The lease of the first container of a job. */
export const lease: Lease = {
  holder: 'test',
  number: 1,
  batch_job_id: 'job',
  batch_attempt: 1,
  taken_at: time,
  heartbeat_at: time,
};
