import type { BatchJob } from '../aws/batch.ts';
import type { Deadline } from '../core/deadline.ts';
import { errorName } from '../core/error-text.ts';
import { inLanes } from '../core/in-lanes.ts';
import type { Logger } from '../core/log.ts';
import { auditCluster } from '../data/jobs/cluster-claim.ts';
import {
  changeJob,
  endJob,
  listUnfinished,
  type UnfinishedJob,
  unfinishedJobs,
  unfinishedKey,
} from '../data/jobs/job.ts';
import { finalRank, isFinal, rankOf } from '../data/jobs/job-status.ts';
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
import type { Item } from '../data/table/table.ts';
import { ConditionFailedError, tryWrite } from '../data/table/write-label.ts';
import { cancelJob } from './cancellation.ts';
import { concludeJob, purgeLeftovers } from './conclusion.ts';
import { startWaiting } from './line.ts';
import { giveUpWaiting, observeBuild, observeJob } from './observation.ts';
import { cancelledReason, reasons } from './reasons.ts';
import { type JobRecord, parseJobRecord, type Reconciler, unfinishedJobOf } from './subject.ts';
import { submitJob } from './submission.ts';

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
  const idOf = (item: Item | undefined, name: string) =>
    typeof item?.[name] === 'string' ? [item[name]] : [];
  const ids = items.flatMap((item) => [...idOf(item, 'depends_on'), ...idOf(item, 'batch_job_id')]);
  const known = new Map((await reconciler.batch.describe(ids)).map((job) => [job.id, job]));
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

/** Update one record from its Batch jobs. */
async function settle(
  reconciler: Reconciler,
  found: JobRecord,
  known: ReadonlyMap<string, BatchJob>,
): Promise<void> {
  const { records, batch, settings, keys } = reconciler;
  const now = reconciler.now();
  if (isFinal(found.status) || found.line_ticket !== null) return;
  const ended = [found.depends_on, found.batch_job_id].some((id) => id !== null && isOver(known.get(id)));
  const record = ended ? await readAnew(reconciler, found) : found;
  if (record === undefined || isFinal(record.status)) return;
  if (record.batch_job_id === null) {
    if (record.cancel_requested_at !== null)
      await cancelJob(records, batch, settings, record, { by: record.cancelled_by, now });
    else if (isForsaken(record.begun_at ?? record.created_at, reconciler))
      await submitJob(records, batch, settings, record, false, keys);
    return;
  }
  const build = record.depends_on === null ? undefined : known.get(record.depends_on);
  if (build !== undefined) await observeBuild(records, record, build, now);
  const job = known.get(record.batch_job_id);
  if (job === undefined) {
    const reason = reasons.lost;
    await concludeJob(records, record, { status: 'FAILED', reason }, now, ...purgeLeftovers(record, now));
    return;
  }
  await observeJob(records, record, job, now);
  for (const waiting of [build, job])
    if (waiting !== undefined && (await giveUpWaiting(records, batch, record, waiting, now))) return;
  const cancelled = record.cancel_requested_at;
  const isAlive = rankOf(job.status) < finalRank;
  if (cancelled !== null && isAlive && secondsSince(cancelled, now) > cancelGraceSeconds) {
    await batch.terminate(job.id, cancelledReason(record.cancelled_by));
  }
}

const isOver = (job: BatchJob | undefined): boolean => job !== undefined && rankOf(job.status) === finalRank;

/**
 * Read the record of an ended Batch job again. The first read came before the request to Batch, and a user may
 * have cancelled the job in between.
 * @returns undefined if the record is gone, or names other Batch jobs than the first read
 */
async function readAnew({ records }: Reconciler, record: JobRecord): Promise<JobRecord | undefined> {
  const item = await records.get(unfinishedJobOf(record).subject);
  const present = item && parseJobRecord(item);
  const isSame = present?.batch_job_id === record.batch_job_id && present.depends_on === record.depends_on;
  return isSame ? present : undefined;
}

/** Whether the function that recorded a job at a time cannot submit it any more. */
const isForsaken = (time: string, { aloneSince, now }: Reconciler): boolean =>
  secondsSince(time, now()) > submitGraceSeconds ||
  (aloneSince !== undefined && Date.parse(time) < aloneSince.getTime());

/** Return the seconds between a time and now. A time in the future was written before the clock was set back. */
const secondsSince = (time: string, now: Date): number => Math.abs(now.getTime() - Date.parse(time)) / 1000;

/**
 * Seconds after which the function that recorded a job has submitted it or is dead. A function runs for at most 29
 * s.
 */
const submitGraceSeconds = 45;
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
function isFrom(position: WatchedPosition, other: WatchedPosition): boolean {
  const rank = ({ pk }: WatchedPosition) => unfinishedJobs.partitions.indexOf(pk);
  if (rank(position) !== rank(other)) return rank(position) > rank(other);
  return (position.after ?? '') >= (other.after ?? '');
}

/** Pages of 100 jobs after which a pass saves its position. */
const pagesBetweenNotes = 20;

/**
 * Compare an unfinished job with Batch, unless a recent comparison exists. Never throw: reads must succeed even
 * while Batch is unavailable.
 * @returns whether the job was compared; if so, the caller must read the record again
 */
export async function reconcileWhenStale(
  reconciler: Reconciler,
  record: JobRecord,
  log: Logger,
): Promise<boolean> {
  const now = reconciler.now();
  // Batch does not know jobs that wait in line, nor experiments that a client records.
  if (record.line_ticket !== null || record.kind === 'logged') return false;
  if (isFinal(record.status) || Math.abs(now.getTime() - Date.parse(record.checked_at)) < freshSeconds * 1000)
    return false;
  const job = unfinishedJobOf(record);
  try {
    // If several readers come at once, only the reader that writes the time asks Batch.
    const since = { equals: { checked_at: record.checked_at } };
    await reconciler.records.write(changeJob(job.subject, { set: { checked_at: now.toISOString() } }, since));
    await reconcileJobs(reconciler, [job]);
    await startWaiting(reconciler, job.user_id, log);
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) log.warn('reconcile-on-read', { error: errorName(error) });
    return false;
  }
}

/** Maximum age in seconds of a comparison with Batch that a read accepts. */
const freshSeconds = 30;

/** Compare these unfinished jobs with Batch, then throw the error of the first job that failed. */
async function reconcileJobs(reconciler: Reconciler, jobs: readonly UnfinishedJob[]): Promise<void> {
  for (const error of (await compareJobs(reconciler, jobs)).values()) throw error;
}
