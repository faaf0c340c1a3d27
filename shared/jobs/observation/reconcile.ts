import type { BatchControl, BatchJob } from '../../aws/batch.ts';
import type { Settings } from '../../core/settings.ts';
import { endJob, type UnfinishedJob } from '../../data/jobs/job.ts';
import { finalRank, isFinal, rankOf } from '../../data/jobs/job-status.ts';
import type { Item, TableReader, TableWriter } from '../../data/table/table.ts';
import { tryWrite } from '../../data/table/try-write.ts';
import { cancelJob } from '../cancel.ts';
import { cancelledReason } from '../cancelled-reason.ts';
import { concludeJob } from '../conclude.ts';
import { type JobRecord, parseJobRecord, unfinishedJobOf } from '../subject.ts';
import { submitJob } from '../submit.ts';
import { giveUpWaiting } from './give-up.ts';
import { purgeLeftovers } from './leftovers.ts';
import { observeBuild, observeJob } from './observe.ts';

/** The services that a comparison with Batch uses. */
export interface Reconciler {
  records: TableWriter<'records'>;
  batch: BatchControl;
  settings: Settings;
  /** Where the key of secret variables is; undefined where trainings with variables are left to others. */
  keys?: TableReader<'accounts'> | undefined;
  now(): Date;
}

/** Seconds after which the function that recorded a job has submitted it or is dead: a function runs for 29 at most. */
const submitGraceSeconds = 45;
/** Seconds that a cancelled container has to save; then Batch is asked again to terminate it. */
const cancelGraceSeconds = 60;

/** Seconds between a time and now. A time in the future was written before the clock was set back. */
const secondsSince = (time: string, now: Date): number => Math.abs(now.getTime() - Date.parse(time)) / 1000;

/** Release what a job had reserved whose record is gone, because its project was deleted. */
async function forget({ records }: Reconciler, job: UnfinishedJob): Promise<void> {
  await tryWrite(records.write(...endJob(job)));
}

const isOver = (job: BatchJob | undefined): boolean => job !== undefined && rankOf(job.status) === finalRank;

/**
 * Read a record again whose Batch job has ended. The first read was before Batch was asked, and the job may have been
 * cancelled in between.
 * @returns undefined where the record is gone, or names other Batch jobs than the one read first
 */
async function readAnew({ records }: Reconciler, record: JobRecord): Promise<JobRecord | undefined> {
  const item = await records.get(unfinishedJobOf(record).subject);
  const present = item && parseJobRecord(item);
  const isSame = present?.batch_job_id === record.batch_job_id && present.depends_on === record.depends_on;
  return isSame ? present : undefined;
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
    else if (secondsSince(record.begun_at ?? record.created_at, now) > submitGraceSeconds)
      await submitJob(records, batch, settings, record, false, keys);
    return;
  }
  const build = record.depends_on === null ? undefined : known.get(record.depends_on);
  if (build !== undefined) await observeBuild(records, record, build, now);
  const job = known.get(record.batch_job_id);
  if (job === undefined) {
    const reason = 'The job queue no longer knows this job, and it never reported its end.';
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

/** Jobs that are compared at once. Batch accepts 50 submissions a second from an account; one takes about 100 ms. */
const atOnce = 4;

/**
 * Compare these unfinished jobs with Batch. Can be repeated at any time. A job that fails does not affect the others.
 * @returns the errors of the jobs that failed
 */
export async function compareJobs(
  reconciler: Reconciler,
  jobs: readonly UnfinishedJob[],
): Promise<ReadonlyMap<UnfinishedJob, unknown>> {
  const items = await reconciler.records.batchGet(jobs.map(({ subject }) => subject));
  const idOf = (item: Item | undefined, name: string) =>
    typeof item?.[name] === 'string' ? [item[name]] : [];
  const ids = items.flatMap((item) => [...idOf(item, 'depends_on'), ...idOf(item, 'batch_job_id')]);
  const known = new Map((await reconciler.batch.describe(ids)).map((job) => [job.id, job]));
  const errors = new Map<UnfinishedJob, unknown>();
  const left = jobs.entries();
  const compareNext = async () => {
    for (const [index, job] of left) {
      const item = items[index];
      try {
        await (item === undefined
          ? forget(reconciler, job)
          : settle(reconciler, parseJobRecord(item), known));
      } catch (error) {
        errors.set(job, error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, compareNext));
  return errors;
}

/** Compare these unfinished jobs with Batch, and then throw the error of the first that failed. */
export async function reconcileJobs(reconciler: Reconciler, jobs: readonly UnfinishedJob[]): Promise<void> {
  for (const error of (await compareJobs(reconciler, jobs)).values()) throw error;
}
