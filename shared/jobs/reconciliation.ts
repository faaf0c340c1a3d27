import type { BatchControl, BatchJob } from '../aws/batch.ts';
import type { Deadline } from '../core/deadline.ts';
import { inLanes } from '../core/in-lanes.ts';
import { auditCluster } from '../data/jobs/cluster-claim.ts';
import {
  endJob,
  listUnfinished,
  type UnfinishedJob,
  unfinishedJobs,
  unfinishedKey,
} from '../data/jobs/job.ts';
import { finalRank, rankOf } from '../data/jobs/job-status.ts';
import { auditVcpus } from '../data/jobs/vcpu-shares.ts';
import {
  forgetPosition,
  putBack,
  readPosition,
  savePosition,
  setAside,
  type UnreadableRow,
  type WatchedPage,
  type WatchedPosition,
} from '../data/lists/watched-list.ts';
import { UnreadableRecordError } from '../data/table/item.ts';
import type { TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/write-label.ts';
import { cancelJob } from './cancellation.ts';
import { concludeJob, purgeLeftovers } from './conclusion.ts';
import { type JobRecord, parseJobRecord, type Reconciler, unfinishedJobOf } from './job-record.ts';
import { describeJobs, observeJob, observeRecord } from './observation.ts';
import { cancelledReason, reasons } from './reasons.ts';
import { mayLeaveSpot, spotWaitSeconds } from './spot/spot.ts';
import { submitGraceSeconds, submitJob } from './submission.ts';

/**
 * Compare every unfinished job with Batch, one page at a time. Start at the position where the last pass ran out
 * of time, and read the whole list once. Set aside jobs whose records can never be read. A pass that read the
 * whole list also corrects the counts of the vCPU limit and of the cluster claim.
 */
export async function reconcileAll(
  reconciler: Reconciler,
  hasTime: Deadline = () => true,
): Promise<ReconcilePass> {
  const { records } = reconciler;
  const pass: ReconcilePass = { setAside: [], errors: [] };
  const resumed = await readPosition(records, unfinishedJobs);
  const audits = [await auditVcpus(records), await auditCluster(records)];
  let isNoted = resumed !== undefined;
  let isRound = resumed === undefined;
  let isWhole = true;
  let position = resumed ?? start;
  for (let pages = 1; ; pages += 1) {
    const page = await listUnfinished(records, position);
    for (const job of page.items) for (const audit of audits) audit.add(job);
    isWhole &&= page.unreadable.length === 0;
    if (page.items.length + page.unreadable.length > 0) {
      try {
        await reconcilePage(reconciler, page, pass);
      } catch (error) {
        pass.errors.push(error);
      }
    }
    if (page.next === undefined && isRound) break;
    isRound ||= page.next === undefined;
    position = page.next ?? start;
    if (resumed !== undefined && isRound && isFrom(position, resumed)) break;
    const goesOn = hasTime();
    // Save the position now. If a job kills the pass, the next pass still reaches the jobs behind it.
    if (!goesOn || pages % pagesBetweenNotes === 0) {
      await savePosition(records, unfinishedJobs, position);
      isNoted = true;
    }
    if (!goesOn) return pass;
  }
  if (isNoted) await forgetPosition(records, unfinishedJobs);
  // A pass that began in the middle may have read a row twice.
  if (isWhole && resumed === undefined) for (const audit of audits) await audit.correct();
  return pass;
}

/** Result of a pass. */
interface ReconcilePass {
  /** Rows that this pass set aside. */
  setAside: UnreadableRow[];
  /** Errors of jobs that failed. The next pass compares these jobs again. */
  errors: unknown[];
}

const start: WatchedPosition = { pk: unfinishedJobs.partitions[0], after: undefined };

/** Compare the jobs of a page with Batch, and set aside jobs that can never be read. */
async function reconcilePage(
  reconciler: Reconciler,
  page: WatchedPage<UnfinishedJob>,
  pass: ReconcilePass,
): Promise<void> {
  const { records, now } = reconciler;
  const failed = await compareJobs(reconciler, page.items);
  const unreadable = [...page.unreadable];
  for (const [job, error] of failed) {
    const isSetAside = page.setAside.has(job);
    if (error instanceof UnreadableRecordError)
      unreadable.push({ key: unfinishedKey(job.job_id), error, isSetAside });
    else pass.errors.push(error);
  }
  for (const row of unreadable) if (await setAside(records, row, now())) pass.setAside.push(row);
  for (const job of page.setAside) if (!failed.has(job)) await putBack(records, unfinishedKey(job.job_id));
}

/**
 * Compare these unfinished jobs with Batch. Calls are idempotent. A job that fails does not affect the others.
 * @returns the errors of the jobs that failed
 */
async function compareJobs(
  reconciler: Reconciler,
  jobs: readonly UnfinishedJob[],
): Promise<ReadonlyMap<UnfinishedJob, unknown>> {
  const items = await reconciler.records.batchGet(jobs.map(({ subject }) => subject));
  const known = await describeJobs(reconciler.batch, items);
  const errors = new Map<UnfinishedJob, unknown>();
  await inLanes(jobs, atOnce, async (job, index) => {
    const item = items[index];
    try {
      await (item === undefined ? forget(reconciler, job) : settle(reconciler, parseJobRecord(item), known));
    } catch (error) {
      errors.set(job, error);
    }
  });
  return errors;
}

/** Release the reservations of a job whose record is gone because its project was deleted. */
async function forget({ records }: Reconciler, job: UnfinishedJob): Promise<void> {
  await tryWrite(records.write(...endJob(job)));
}

/** Update one record from its Batch jobs, and do what is left to do: submit it, give up a long wait, or end it again. */
async function settle(
  reconciler: Reconciler,
  found: JobRecord,
  known: ReadonlyMap<string, BatchJob>,
): Promise<void> {
  const { records, batch, settings, keys } = reconciler;
  const now = reconciler.now();
  const observed = await observeRecord(reconciler, found, known);
  if (observed === undefined) return;
  const { record, build, job } = observed;
  if (job === undefined) {
    if (record.cancel_requested_at !== null)
      await cancelJob(records, batch, settings, record, { by: record.cancelled_by, now });
    else if (isForsaken(recordedAt(record), reconciler))
      await submitJob(records, batch, settings, record, { now, aloneSince: reconciler.aloneSince }, keys);
    return;
  }
  if (await leaveSpot(reconciler, record, job, now)) return;
  for (const waiting of [build, job])
    if (waiting !== undefined && (await giveUpWaiting(records, batch, record, waiting, now))) return;
  const cancelled = record.cancel_requested_at;
  const isAlive = rankOf(job.status) < finalRank;
  if (cancelled !== null && isAlive && secondsSince(cancelled, now) > cancelGraceSeconds) {
    await batch.terminate(job.id, cancelledReason(record.cancelled_by));
  }
}

/** Return when a job became ready for its next submission: its creation, its turn in line, or the loss of its host. */
const recordedAt = ({ former_attempts, attempts, begun_at, created_at }: JobRecord): string =>
  (former_attempts === undefined ? null : attempts.at(-1)?.stopped_at) ?? begun_at ?? created_at;

/** Whether the function that recorded a job at a time cannot submit it any more. */
const isForsaken = (time: string, { aloneSince, now }: Reconciler): boolean =>
  secondsSince(time, now()) > submitGraceSeconds ||
  (aloneSince !== undefined && Date.parse(time) < aloneSince.getTime());

/** Return the seconds between a time and now. A time in the future was written before the clock was set back. */
const secondsSince = (time: string, now: Date): number => Math.abs(now.getTime() - Date.parse(time)) / 1000;

/**
 * Seconds that a cancelled container has to save its work. After them, the reconciler asks Batch again to
 * terminate it.
 */
const cancelGraceSeconds = 60;

/**
 * Number of jobs to compare in parallel. Batch accepts 50 submissions a second from an account; one takes about
 * 100 ms.
 */
const atOnce = 4;

/** Whether a position equals `other` or comes after it. */
function isFrom(position: WatchedPosition, watchedPosition: WatchedPosition): boolean {
  const rank = ({ pk }: WatchedPosition) => unfinishedJobs.partitions.indexOf(pk);
  if (rank(position) !== rank(watchedPosition)) return rank(position) > rank(watchedPosition);
  return (position.after ?? '') >= (watchedPosition.after ?? '');
}

/** Pages of 100 jobs after which a pass saves its position. */
const pagesBetweenNotes = 20;

/**
 * Move a job that has waited too long for Spot on demand. Batch does not cancel a job that has just started, so it never
 * runs twice. If this process dies after the cancellation, Batch's event or the next pass moves the job.
 * @returns whether the job was moved
 */
async function leaveSpot(
  { records, batch, settings, keys }: Reconciler,
  record: JobRecord,
  job: BatchJob,
  now: Date,
): Promise<boolean> {
  const since = job.createdAt ?? waitsSince(record, job);
  if (!mayLeaveSpot(record) || job.status !== 'RUNNABLE' || now.getTime() - since < spotWaitSeconds * 1000)
    return false;
  await batch.cancel(job.id, reasons.noSpot);
  const [cancelled] = await batch.describe([job.id]);
  const item = await records.get(unfinishedJobOf(record).subject);
  if (cancelled === undefined || item === undefined) return false;
  const present = parseJobRecord(item);
  // The function that gets the event of Batch was faster, and submits it; if it dies, the next pass does.
  if (present.batch_job_id !== job.id) return true;
  const again = await observeJob(records, present, cancelled, now);
  if (again === undefined) return false;
  await submitJob(records, batch, settings, again, { now }, keys);
  return true;
}

/**
 * End a job and its Batch jobs if it has waited for capacity longer than the limit.
 * @param waiting the job itself, or the build of its environment
 * @returns whether the job was ended
 */
async function giveUpWaiting(
  records: TableWriter<'records'>,
  batch: BatchControl,
  record: JobRecord,
  waiting: BatchJob,
  now: Date,
): Promise<boolean> {
  const hours = Math.abs(now.getTime() - waitsSince(record, waiting)) / 3_600_000;
  if (waiting.status !== 'RUNNABLE' || hours <= maxWaitHours) return false;
  const reason = reasons.waitedTooLong(maxWaitHours, waiting);
  for (const id of new Set([record.depends_on, record.batch_job_id]))
    if (id !== null) await batch.terminate(id, reason);
  return concludeJob(records, record, { status: 'FAILED', reason }, now, ...purgeLeftovers(record, now));
}

/**
 * Start of a job's wait, in epoch milliseconds: its creation, its turn in line, or the end of its last attempt.
 */
const waitsSince = (record: JobRecord, job: BatchJob): number =>
  Math.max(
    Date.parse(record.begun_at ?? record.created_at),
    ...job.attempts.map(({ stoppedAt = 0 }) => stoppedAt),
  );

/**
 * Hours for which a job may wait for capacity. Queues on AWS end a job sooner if they know the reason (no instance
 * of that size, a lack of capacity). This limit covers all other reasons.
 */
const maxWaitHours = 72;
