import type { BatchJob, BatchStatus } from '../../aws/batch.ts';
import { changeJob } from '../../data/jobs/job.ts';
import { isFinal, rankOf } from '../../data/jobs/job-status.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { tryWrite } from '../../data/table/try-write.ts';
import { cancelledReason } from '../cancelled-reason.ts';
import { concludeJob } from '../conclude.ts';
import { noteBuild } from '../note-build.ts';
import { buildingReason, reasonOfLoss, reasonToWait } from '../reason.ts';
import { type JobRecord, unfinishedJobOf } from '../subject.ts';
import { explainWait } from './explain-wait.ts';
import { purgeLeftovers } from './leftovers.ts';

const instant = (milliseconds: number | undefined): string | null =>
  milliseconds === undefined ? null : new Date(milliseconds).toISOString();

const isOver = (status: BatchStatus): status is 'SUCCEEDED' | 'FAILED' =>
  status === 'SUCCEEDED' || status === 'FAILED';

function attemptsOf(job: BatchJob) {
  return job.attempts.map((attempt, index) => ({
    attempt: index + 1,
    started_at: instant(attempt.startedAt),
    stopped_at: instant(attempt.stoppedAt),
    exit_code: attempt.exitCode ?? null,
    reason: attempt.reason ?? null,
  }));
}

/** Move the status of a record to that of its Batch job; within an attempt only forward. */
async function advance(
  records: TableWriter<'records'>,
  record: JobRecord,
  job: BatchJob,
  status: Exclude<BatchStatus, 'SUCCEEDED' | 'FAILED'>,
  now: Date,
): Promise<void> {
  const rank = rankOf(status);
  const isNews =
    job.attempt > record.batch_attempt || (job.attempt === record.batch_attempt && rank > record.status_rank);
  if (!isNews) return explainWait(records, record, { waiting: job, status: 'RUNNABLE' }, now);
  // 'Being built' tells the user more than 'waits for another job'.
  const isBuilding = status === 'PENDING' && record.status_reason === buildingReason;
  const set = {
    status,
    status_rank: rank,
    status_reason: isBuilding ? buildingReason : reasonToWait({ ...job, status }),
    batch_attempt: job.attempt,
    batch_job_id: job.id,
    attempts: attemptsOf(job),
    checked_at: now.toISOString(),
  };
  const forward = {
    any: [
      { below: { batch_attempt: job.attempt } },
      { equals: { batch_attempt: job.attempt }, below: { status_rank: rank } },
    ],
  };
  await tryWrite(records.write(changeJob(unfinishedJobOf(record).subject, { set }, forward)));
}

/**
 * Update a record from its Batch job, as an event or DescribeJobs reports it. Can be repeated, in any order. A job that
 * has ended at Batch without a conclusion of its container is concluded here.
 */
export async function observeJob(
  records: TableWriter<'records'>,
  record: JobRecord,
  job: BatchJob,
  now: Date,
): Promise<void> {
  if (isFinal(record.status)) return;
  // The job was submitted twice: the record names the one that holds the lease.
  if (record.batch_job_id !== null && record.batch_job_id !== job.id) return;
  const { status } = job;
  if (!isOver(status)) return advance(records, record, job, status, now);
  const change = { attempts: attemptsOf(job), batch_job_id: job.id };
  const cancelled = record.cancel_requested_at !== null;
  await concludeJob(
    records,
    record,
    cancelled
      ? {
          status: 'CANCELLED',
          reason: cancelledReason(record.cancelled_by),
          exitCode: job.exitCode ?? null,
          change,
        }
      : { status: 'FAILED', reason: reasonOfLoss(job), exitCode: job.exitCode ?? null, change },
    now,
    ...purgeLeftovers(record, now),
  );
}

/** Update a record from the Batch job that builds its environment. */
export async function observeBuild(
  records: TableWriter<'records'>,
  record: JobRecord,
  job: BatchJob,
  now: Date,
): Promise<void> {
  if (isFinal(record.status) || (record.depends_on !== null && record.depends_on !== job.id)) return;
  // The function that submitted it may have died before noting it.
  if (record.depends_on === null) await noteBuild(records, record, job.id);
  await explainWait(records, record, { waiting: job, status: 'PENDING' }, now);
  if (job.status === 'FAILED') {
    const cancelled = record.cancel_requested_at !== null;
    const reason = `The environment could not be built. ${reasonOfLoss(job)}`;
    await concludeJob(
      records,
      record,
      cancelled
        ? { status: 'CANCELLED', reason: cancelledReason(record.cancelled_by) }
        : { status: 'FAILED', reason },
      now,
      ...purgeLeftovers({ ...record, depends_on: job.id }, now),
    );
  }
}
