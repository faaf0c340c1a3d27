import type { BatchJob } from '../../aws/batch.ts';
import { changeJob } from '../../data/jobs/job.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { tryWrite } from '../../data/table/try-write.ts';
import { buildingReason, reasonToBuildLater, reasonToWait } from '../reason.ts';
import { type JobRecord, unfinishedJobOf } from '../subject.ts';

/** A Batch job that waits for capacity. */
interface Wait {
  /** The job itself, or the build of its environment. */
  waiting: BatchJob;
  /** Status of the record while it waits. */
  status: 'RUNNABLE' | 'PENDING';
}

/**
 * Note on the record why a job still waits for capacity. Batch knows the reason only after some minutes, and sends no
 * event about it. The reason is kept as it is while the job is being cancelled or its environment is being built.
 */
export async function explainWait(
  records: TableWriter<'records'>,
  record: JobRecord,
  { waiting, status }: Wait,
  now: Date,
): Promise<void> {
  const { status_reason: noted, status_rank, batch_attempt, cancel_requested_at } = record;
  if (waiting.status !== 'RUNNABLE' || record.status !== status || cancel_requested_at !== null) return;
  if (status === 'RUNNABLE' && waiting.attempt !== batch_attempt) return;
  const reason = status === 'RUNNABLE' ? reasonToWait({ ...waiting, status }) : reasonToBuildLater(waiting);
  // Without a reason the answer of Batch says no more than the event did.
  if (waiting.reason === undefined || noted === buildingReason || noted === reason) return;
  const set = { status_reason: reason, checked_at: now.toISOString() };
  const unmoved = { equals: { status_rank, batch_attempt, ...(noted !== null && { status_reason: noted }) } };
  await tryWrite(records.write(changeJob(unfinishedJobOf(record).subject, { set }, unmoved)));
}
