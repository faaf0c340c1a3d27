import { noticeWrites } from '../data/hooks/notice.ts';
import { changeJob } from '../data/jobs/job.ts';
import { finalRank, isFinal, rankOf } from '../data/jobs/job-status.ts';
import { findLease, type Lease, leaseSeconds, takeLease } from '../data/jobs/lease.ts';
import type { Item, Key, TableWriter, Write } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import { isCompression, type JobRecord, jobIdOf, unfinishedJobOf } from './job-record.ts';
import { reasons } from './reasons.ts';

/**
 * Take the lease of a job's node before any other work for it. Every later write names the lease. So a job runs
 * once even if it was submitted twice, or if an attempt that seemed dead is alive.
 * @param holder name of this container; a repeated call with the same name, after a lost reply, returns the same
 * lease
 */
export async function acquireLease<R extends JobRecord>(
  records: TableWriter<'records'>,
  { subject, parse }: { subject: Key; parse(item: Item): R },
  me: ContainerIdentity,
  now: Date,
  holder: string,
): Promise<Acquired<R>> {
  const item = await records.get(subject);
  if (item === undefined) return { refused: 'the record of this job is gone' };
  const record = parse(item);
  if (isFinal(record.status)) return { refused: `the job has already ended: ${record.status}` };
  if ((me.former_attempts ?? 0) < (record.former_attempts ?? 0))
    return { refused: 'a later submission runs this job' };
  const job_id = jobIdOf(record);
  const previous = await findLease(records, job_id, me.node);
  if (previous?.holder === holder) return { lease: previous, record };
  if (previous !== undefined && !mayTakeOver(previous, me, record, now)) {
    return { refused: `Batch job ${previous.batch_job_id} already runs this job` };
  }
  const lease: Lease = {
    holder,
    number: (previous?.number ?? 0) + 1,
    batch_job_id: me.batch_job_id,
    batch_attempt: me.batch_attempt,
    ...(me.former_attempts !== undefined && { former_attempts: me.former_attempts }),
    ...(previous?.progress !== undefined && { progress: previous.progress }),
    user_id: record.user_id,
    taken_at: now.toISOString(),
    heartbeat_at: now.toISOString(),
  };
  const told = await startNotices(records, record, me, now);
  try {
    await records.write(takeLease(job_id, me.node, lease, previous), startWrite(record, me, now), ...told);
  } catch (error) {
    if (error instanceof ConditionFailedError)
      return { refused: 'another container was faster, or the job has just ended' };
    throw error;
  }
  const taken = await records.get(subject);
  return taken === undefined
    ? { refused: 'the record of this job is gone' }
    : { lease, record: parse(taken) };
}

/** Identity of a container, from the variables that Batch sets. */
export interface ContainerIdentity {
  batch_job_id: string;
  /** Number of the attempt, from 1, over all submissions of the job. */
  batch_attempt: number;
  /** Attempts of earlier submissions. Absent in the first submission. */
  former_attempts?: number | undefined;
  node: number;
  /** Whether it builds the environment. The containers of the job start after it has succeeded. */
  isBuild: boolean;
}

/** Lease with the record of the job, or the reason why this container must not run it. */
export type Acquired<R extends JobRecord> = { lease: Lease; record: R } | { refused: string };

/**
 * Whether a container may take over a lease. Its holder must have ended, or have sent no heartbeat for too long.
 */
function mayTakeOver(previous: Lease, me: ContainerIdentity, record: JobRecord, now: Date): boolean {
  const builtFirst = previous.batch_job_id === record.depends_on && !me.isBuild;
  // It was submitted after Batch had ended every container of the earlier submissions.
  const isLaterSubmission = (previous.former_attempts ?? 0) < (me.former_attempts ?? 0);
  const isLaterAttempt =
    previous.batch_job_id === me.batch_job_id && previous.batch_attempt < me.batch_attempt;
  // A heartbeat in the future was written before the clock was set back.
  const silence = Math.abs(now.getTime() - Date.parse(previous.heartbeat_at)) / 1000;
  return builtFirst || isLaterSubmission || isLaterAttempt || silence > leaseSeconds;
}

/** Build the write that tells hooks of the first start of an experiment. Return none if no hook asks for it. */
async function startNotices(
  records: TableWriter<'records'>,
  record: JobRecord,
  me: ContainerIdentity,
  now: Date,
): Promise<Write[]> {
  if (isCompression(record) || me.isBuild || me.node > 0 || record.started_at !== null) return [];
  const { project_id, experiment_id: subject } = record;
  return noticeWrites(records, { type: 'experiment.started', project_id, subject }, now);
}

/** Build the write on the job's record that goes into the transaction of the lease. */
function startWrite(record: JobRecord, me: ContainerIdentity, now: Date): Write {
  const { subject } = unfinishedJobOf(record);
  if (me.isBuild) {
    // The function that submitted the build may have died before it recorded the id. The containers of the job
    // need it.
    const noted = record.depends_on === null ? { depends_on: me.batch_job_id } : {};
    return changeJob(subject, { set: { ...noted, status_reason: reasons.building } });
  }
  if (me.node > 0) return { check: subject, if: { below: { status_rank: finalRank } } };
  const { batch_job_id, batch_attempt } = me;
  const set = {
    status: 'RUNNING',
    status_rank: rankOf('RUNNING'),
    status_reason: isCompression(record) ? reasons.fetchingModel : reasons.fetchingSource,
    batch_job_id,
    batch_attempt,
    attempt_started_at: now.toISOString(),
  };
  const started = record.started_at === null ? { started_at: now.toISOString() } : {};
  return changeJob(subject, { set: { ...set, ...started }, add: { attempt: 1 } });
}
