import type { BatchControl, BatchJob } from '../aws/batch.ts';
import type { TableWriter } from '../data/table.ts';
import { concludeJob } from './conclude.ts';
import { purgeLeftovers } from './leftovers.ts';
import type { JobRecord } from './subject.ts';

/**
 * Hours for which a job may wait to be placed. Queues on AWS give up sooner what they know the reason of (a size that
 * none of their computers has, a lack of capacity); this is for everything else.
 */
const waitMostHours = 72;

/** Since when a job waits, in epoch milliseconds: it was made, or its last attempt ended. */
const waitsSince = (record: JobRecord, job: BatchJob): number =>
  Math.max(Date.parse(record.created_at), ...job.attempts.map(({ stoppedAt = 0 }) => stoppedAt));

/**
 * Gives a job up that waits to be placed for longer than any may: its Batch job is ended, and the record says why.
 * `waiting` is the job itself, or the build of its environment. True when it did.
 */
export async function giveUpWaiting(
  records: TableWriter<'records'>,
  batch: BatchControl,
  record: JobRecord,
  waiting: BatchJob,
  now: Date,
): Promise<boolean> {
  const hours = Math.abs(now.getTime() - waitsSince(record, waiting)) / 3_600_000;
  if (waiting.status !== 'RUNNABLE' || hours <= waitMostHours) return false;
  const said = waiting.reason === undefined ? '' : ` Batch said: ${waiting.reason}`;
  const reason = `It waited ${waitMostHours} hours for compute capacity, the longest that a job may.${said}`;
  for (const id of new Set([record.depends_on, record.batch_job_id]))
    if (id !== null) await batch.terminate(id, reason);
  return concludeJob(records, record, { status: 'FAILED', reason }, now, ...purgeLeftovers(record, now));
}
