import type { BatchControl, BatchJob } from '../../aws/batch.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { concludeJob } from '../conclude.ts';
import type { JobRecord } from '../subject.ts';
import { purgeLeftovers } from './leftovers.ts';

/**
 * Hours for which a job may wait for capacity. Queues on AWS end a job sooner where they know the reason (no instance of
 * that size, a lack of capacity); this covers all other reasons.
 */
const maxWaitHours = 72;

/** Since when a job waits, in epoch milliseconds: its creation, its turn in line, or the end of its last attempt. */
const waitsSince = (record: JobRecord, job: BatchJob): number =>
  Math.max(
    Date.parse(record.begun_at ?? record.created_at),
    ...job.attempts.map(({ stoppedAt = 0 }) => stoppedAt),
  );

/**
 * End a job that has waited for capacity longer than the limit, and its Batch jobs.
 * @param waiting the job itself, or the build of its environment
 * @returns whether it was ended
 */
export async function giveUpWaiting(
  records: TableWriter<'records'>,
  batch: BatchControl,
  record: JobRecord,
  waiting: BatchJob,
  now: Date,
): Promise<boolean> {
  const hours = Math.abs(now.getTime() - waitsSince(record, waiting)) / 3_600_000;
  if (waiting.status !== 'RUNNABLE' || hours <= maxWaitHours) return false;
  const batchReason = waiting.reason === undefined ? '' : ` Batch said: ${waiting.reason}`;
  const reason = `It waited ${maxWaitHours} hours for compute capacity, the longest that a job may.${batchReason}`;
  for (const id of new Set([record.depends_on, record.batch_job_id]))
    if (id !== null) await batch.terminate(id, reason);
  return concludeJob(records, record, { status: 'FAILED', reason }, now, ...purgeLeftovers(record, now));
}
