import type { BatchJob } from '../aws/batch.ts';
import { changeJob } from '../data/job.ts';
import type { TableWriter } from '../data/table.ts';
import { ConditionFailedError } from '../data/write-label.ts';
import { buildingReason, reasonToBuildLater, reasonToWait } from './reason.ts';
import { type JobRecord, unfinishedJobOf } from './subject.ts';

/** Waits for a write that later news, or the end of the job, may have made pointless. */
export async function unlessOvertaken(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
  }
}

interface Wait {
  /** What is to be placed: the job itself, or the build of its environment. */
  waiting: BatchJob;
  /** What the record says meanwhile. */
  status: 'RUNNABLE' | 'PENDING';
}

/**
 * Notes why a job still waits to be placed: Batch finds that out only after a while, and tells of it by no event.
 * A wish to cancel it, or that its environment is being built, stays what is said of it.
 */
export async function explainWait(
  records: TableWriter<'records'>,
  record: JobRecord,
  { waiting, status }: Wait,
  now: Date,
): Promise<void> {
  const { status_reason: said, status_rank, batch_attempt, cancel_requested_at } = record;
  if (waiting.status !== 'RUNNABLE' || record.status !== status || cancel_requested_at !== null) return;
  if (status === 'RUNNABLE' && waiting.attempt !== batch_attempt) return;
  const reason = status === 'RUNNABLE' ? reasonToWait({ ...waiting, status }) : reasonToBuildLater(waiting);
  // An event says less than Batch does when it is asked, and may be older.
  if (waiting.reason === undefined || said === buildingReason || said === reason) return;
  const set = { status_reason: reason, checked_at: now.toISOString() };
  const unmoved = { equals: { status_rank, batch_attempt, ...(said !== null && { status_reason: said }) } };
  await unlessOvertaken(records.write(changeJob(unfinishedJobOf(record).subject, { set }, unmoved)));
}
