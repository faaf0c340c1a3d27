import type { BatchJob, BatchObserver, BatchStatus } from '../aws/batch.ts';
import type { CapacityType } from '../core/capacity/capacity.ts';
import { type Attempt, changeJob } from '../data/jobs/job.ts';
import { isFinal, rankOf } from '../data/jobs/job-status.ts';
import type { Item, TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/write-label.ts';
import { concludeJob, purgeLeftovers } from './conclusion.ts';
import { isHostLost, lossesInRow, maxAttempts, maxLosses } from './host-loss.ts';
import { batchNameOf, type JobRecord, parseJobRecord, unfinishedJobOf } from './job-record.ts';
import { buildWaitReason, cancelledReason, lossReason, reasons, waitReason } from './reasons.ts';
import { hasLeftSpot, isNoSpot, nextCapacityType } from './spot/spot.ts';
import { noteBuild } from './submission.ts';

/**
 * Update a record from its Batch job, as an event or DescribeJobs reports it. Calls are idempotent and may come in
 * any order. If the Batch job has ended and its container has not concluded the job, conclude it, unless only its hosts
 * were lost.
 * @returns the record if the caller must submit it again
 */
export async function observeJob(
  records: TableWriter<'records'>,
  record: JobRecord,
  reported: BatchJob,
  now: Date,
): Promise<JobRecord | undefined> {
  if (isFinal(record.status)) return undefined;
  // These are late news of an earlier submission. The function that ended it may have died before the next one. One that
  // was submitted twice may still have taken the lease.
  if (reported.name !== batchNameOf(record) && reported.id !== record.batch_job_id)
    return isUnsubmitted(record) && !isNoSpot(reported) ? record : undefined;
  // The job was submitted twice. The record names the Batch job that holds the lease.
  if (record.batch_job_id !== null && record.batch_job_id !== reported.id) return undefined;
  // The news of the build, which come at the same time, say why.
  if (record.depends_on !== null && reported.reason === dependencyFailed) return undefined;
  const job = withFormer(record, reported);
  const { status } = job;
  if (hasLeftSpot(record, reported))
    return submitAnew(records, record, job, { type: 'on-demand', reason: reasons.leftSpot });
  if (!isOver(status)) {
    await advance(records, record, job, status, now);
    return undefined;
  }
  const cancelled = record.cancel_requested_at !== null;
  const tries = job.attempts.length;
  // Attempts of earlier submissions do not say how this one has ended.
  const isLost = isHostLost(reported) && !cancelled;
  const losses = isLost ? await lossesInRow(records, record, tries) : null;
  if (losses !== null && losses < maxLosses && tries < maxAttempts)
    return submitAnew(records, record, job, afterLoss(record, job));
  const change = { attempts: attemptsOf(record, job), batch_job_id: job.id };
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
      : { status: 'FAILED', reason: lossReason(job, losses), exitCode: job.exitCode ?? null, change },
    now,
    ...purgeLeftovers(record, now),
  );
  return undefined;
}

/** Status reason of a Batch job whose environment could not be built. */
const dependencyFailed = 'Dependent Job failed';

/** Whether a job is between two submissions. */
const isUnsubmitted = ({ batch_job_id, former_attempts, cancel_requested_at }: JobRecord): boolean =>
  batch_job_id === null && former_attempts !== undefined && cancel_requested_at === null;

/** Return a Batch job together with the attempts of earlier submissions. */
function withFormer({ attempts, former_attempts = 0 }: JobRecord, job: BatchJob): BatchJob {
  const former = attempts.slice(0, former_attempts).map((attempt) => ({
    exitCode: attempt.exit_code ?? undefined,
    reason: attempt.reason ?? undefined,
    startedAt: attempt.started_at === null ? undefined : Date.parse(attempt.started_at),
    stoppedAt: attempt.stopped_at === null ? undefined : Date.parse(attempt.stopped_at),
  }));
  return { ...job, attempt: former_attempts + job.attempt, attempts: [...former, ...job.attempts] };
}

/** Return where the next submission runs after a lost host, and what the user is told. */
function afterLoss(record: JobRecord, job: BatchJob): Next {
  const type = nextCapacityType(record, attemptsOf(record, job));
  const isSpot = type !== undefined && record.capacity_type === 'spot';
  return { type, reason: isSpot ? reasons.spotLost(type) : reasons.hostLost };
}

/** The next submission of a job. */
interface Next {
  /** Undefined for jobs of releases that did not record it. */
  type: CapacityType | undefined;
  reason: string;
}

/**
 * Let a job whose submission has lost all its attempts, or has left Spot, wait for the next one. Its place, lease and
 * checkpoints stay.
 * @returns undefined if another process was faster
 */
async function submitAnew(
  records: TableWriter<'records'>,
  record: JobRecord,
  job: BatchJob,
  { type, reason }: Next,
): Promise<JobRecord | undefined> {
  const set = {
    status: 'CREATED' as const,
    status_rank: 0,
    status_reason: reason,
    ...(type !== undefined && { capacity_type: type }),
    attempts: attemptsOf(record, job),
    batch_attempt: job.attempts.length,
    former_attempts: job.attempts.length,
    batch_job_id: null,
  };
  const { batch_job_id, version } = record;
  const unchanged = {
    equals: batch_job_id === null ? { version } : { batch_job_id },
    // A cancel that came since the read ends the job.
    ...(record.cancel_requested_at === null && { differs: { status_reason: reasons.cancelling } }),
  };
  const isNoted = await tryWrite(
    records.write(
      // A claim of the former submission does not keep anybody from the next one.
      changeJob(unfinishedJobOf(record).subject, { set, remove: ['submitting_at'] }, unchanged),
    ),
  );
  return isNoted ? { ...record, ...set } : undefined;
}

const isOver = (status: BatchStatus): status is 'SUCCEEDED' | 'FAILED' =>
  status === 'SUCCEEDED' || status === 'FAILED';

/** Move the status of a record to that of its Batch job. Within an attempt it only moves forward. */
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
  // 'Being built' is more useful to the user than 'waits for another job'.
  const isBuilding = status === 'PENDING' && record.status_reason === reasons.building;
  const set = {
    status,
    status_rank: rank,
    status_reason: isBuilding ? reasons.building : waitReason({ ...job, status }),
    batch_attempt: job.attempt,
    batch_job_id: job.id,
    attempts: attemptsOf(record, job),
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
 * Record why a job still waits for capacity. Batch knows the reason only after some minutes, and sends no event
 * about it. Keep the recorded reason while the job is being cancelled or its environment is being built.
 */
async function explainWait(
  records: TableWriter<'records'>,
  record: JobRecord,
  { waiting, status }: Wait,
  now: Date,
): Promise<void> {
  const { status_reason: noted, status_rank, batch_attempt, cancel_requested_at } = record;
  if (waiting.status !== 'RUNNABLE' || record.status !== status || cancel_requested_at !== null) return;
  if (status === 'RUNNABLE' && waiting.attempt !== batch_attempt) return;
  const reason = status === 'RUNNABLE' ? waitReason({ ...waiting, status }) : buildWaitReason(waiting);
  // Without a reason, the answer of Batch adds nothing to the event.
  if (waiting.reason === undefined || noted === reasons.building || noted === reason) return;
  const set = { status_reason: reason, checked_at: now.toISOString() };
  const unmoved = { equals: { status_rank, batch_attempt, ...(noted !== null && { status_reason: noted }) } };
  await tryWrite(records.write(changeJob(unfinishedJobOf(record).subject, { set }, unmoved)));
}

/** Batch job that waits for capacity. */
interface Wait {
  /** The job itself, or the build of its environment. */
  waiting: BatchJob;
  /** Status of the record while it waits. */
  status: 'RUNNABLE' | 'PENDING';
}

/** Return the attempts of a job for its record: those of earlier submissions as they are, and those of this one. */
function attemptsOf({ attempts, former_attempts = 0, capacity_type }: JobRecord, job: BatchJob): Attempt[] {
  return job.attempts.map((attempt, index) => {
    const former = index < former_attempts ? attempts[index] : undefined;
    return (
      former ?? {
        attempt: index + 1,
        started_at: instant(attempt.startedAt),
        stopped_at: instant(attempt.stoppedAt),
        exit_code: attempt.exitCode ?? null,
        reason: attempt.reason ?? null,
        ...(capacity_type !== undefined && { capacity_type }),
      }
    );
  });
}

const instant = (milliseconds: number | undefined): string | null =>
  milliseconds === undefined ? null : new Date(milliseconds).toISOString();

/** Update a record from the Batch job that builds its environment. */
export async function observeBuild(
  records: TableWriter<'records'>,
  record: JobRecord,
  job: BatchJob,
  now: Date,
): Promise<void> {
  if (isFinal(record.status) || (record.depends_on !== null && record.depends_on !== job.id)) return;
  // The function that submitted the build may have died before it recorded the id.
  if (record.depends_on === null) await noteBuild(records, record, job.id);
  await explainWait(records, record, { waiting: job, status: 'PENDING' }, now);
  if (job.status === 'FAILED') {
    const cancelled = record.cancel_requested_at !== null;
    const reason = reasons.buildFailed(job);
    await concludeJob(
      records,
      record,
      cancelled
        ? { status: 'CANCELLED', reason: cancelledReason(record.cancelled_by) }
        : { status: 'FAILED', reason },
      now,
      ...purgeLeftovers(record, now),
    );
  }
}

/** Services that learn from Batch how jobs are. They begin and end none. */
export interface Observer {
  records: TableWriter<'records'>;
  batch: BatchObserver;
  now(): Date;
}

/** Return the Batch jobs that stored records name, by their ids. */
export async function describeJobs(
  batch: BatchObserver,
  items: readonly (Item | undefined)[],
): Promise<ReadonlyMap<string, BatchJob>> {
  const idOf = (item: Item | undefined, name: string) =>
    typeof item?.[name] === 'string' ? [item[name]] : [];
  const ids = items.flatMap((item) => [...idOf(item, 'depends_on'), ...idOf(item, 'batch_job_id')]);
  return new Map((await batch.describe(ids)).map((job) => [job.id, job]));
}

/**
 * Update one record from its Batch jobs.
 * @param known from {@link describeJobs}
 * @returns the record with its Batch jobs, or undefined if the job has ended or waits in line
 */
export async function observeRecord(
  { records, now: clock }: Observer,
  found: JobRecord,
  known: ReadonlyMap<string, BatchJob>,
): Promise<Observed | undefined> {
  const now = clock();
  if (isFinal(found.status) || found.line_ticket !== null) return undefined;
  const ended = [found.depends_on, found.batch_job_id].some((id) => id !== null && hasEnded(known.get(id)));
  const record = ended ? await readAnew(records, found) : found;
  if (record === undefined || isFinal(record.status)) return undefined;
  if (record.batch_job_id === null) return { record };
  const build = record.depends_on === null ? undefined : known.get(record.depends_on);
  if (build !== undefined) await observeBuild(records, record, build, now);
  const reported = known.get(record.batch_job_id);
  if (reported === undefined) {
    const reason = reasons.lost;
    await concludeJob(records, record, { status: 'FAILED', reason }, now, ...purgeLeftovers(record, now));
    return undefined;
  }
  const again = await observeJob(records, record, reported, now);
  return again === undefined ? { record, build, job: withFormer(record, reported) } : { record: again };
}

/** A record as it was before the observation, or as it must be submitted again, with the Batch jobs that it names. */
interface Observed {
  record: JobRecord;
  /** Build of its environment. */
  build?: BatchJob | undefined;
  /** Undefined if the job was not submitted. */
  job?: BatchJob;
}

const hasEnded = (job: BatchJob | undefined): boolean => job !== undefined && isOver(job.status);

/**
 * Read the record of an ended Batch job again. The first read came before the request to Batch, and a user may
 * have cancelled the job in between.
 * @returns undefined if the record is gone, or names other Batch jobs than the first read
 */
async function readAnew(records: TableWriter<'records'>, record: JobRecord): Promise<JobRecord | undefined> {
  const item = await records.get(unfinishedJobOf(record).subject);
  const present = item && parseJobRecord(item);
  const isSame = present?.batch_job_id === record.batch_job_id && present.depends_on === record.depends_on;
  return isSame ? present : undefined;
}
