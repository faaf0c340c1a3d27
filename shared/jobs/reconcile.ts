import type { BatchControl, BatchJob } from '../aws/batch.ts';
import type { Settings } from '../core/settings.ts';
import { endJob, type UnfinishedJob } from '../data/job.ts';
import { finalRank, isFinal, rankOf } from '../data/job-status.ts';
import type { Item, TableWriter } from '../data/table.ts';
import { ConditionFailedError } from '../data/write-label.ts';
import { cancelJob } from './cancel.ts';
import { concludeJob } from './conclude.ts';
import { giveUpWaiting } from './give-up.ts';
import { purgeLeftovers } from './leftovers.ts';
import { observeBuild, observeJob } from './observe.ts';
import { type JobRecord, parseJobRecord, unfinishedJobOf } from './subject.ts';
import { submitJob } from './submit.ts';

export interface Reconciler {
  records: TableWriter<'records'>;
  batch: BatchControl;
  settings: Settings;
  now(): Date;
}

/** Seconds after which whoever recorded a job must have submitted it or be dead: a function lives 29 at most. */
const submitGraceSeconds = 45;
/** Seconds for which a cancelled container may save; afterwards Batch is asked again. */
const cancelGraceSeconds = 60;

/** A moment that is still to come is from before the clock was set back: as far off as it is, so long ago it counts. */
const secondsSince = (time: string, now: Date): number => Math.abs(now.getTime() - Date.parse(time)) / 1000;

/** A row whose record is gone (its project was deleted): what the job had reserved is freed. */
async function forget({ records }: Reconciler, job: UnfinishedJob): Promise<void> {
  try {
    await records.write(...endJob(job));
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
  }
}

const isOver = (job: BatchJob | undefined): boolean => job !== undefined && rankOf(job.status) === finalRank;

/**
 * The record as it was when Batch was asked, or later: it was read before, and a wish to cancel the job may have been
 * written, and carried out by Batch, in between. Undefined where it is gone, or now has jobs that Batch was not asked for.
 */
async function readAnew({ records }: Reconciler, record: JobRecord): Promise<JobRecord | undefined> {
  const item = await records.get(unfinishedJobOf(record).subject);
  const present = item && parseJobRecord(item);
  const isSame = present?.batch_job_id === record.batch_job_id && present.depends_on === record.depends_on;
  return isSame ? present : undefined;
}

/** Brings one record in line with what Batch knows of its jobs. */
async function settle(
  reconciler: Reconciler,
  found: JobRecord,
  known: ReadonlyMap<string, BatchJob>,
): Promise<void> {
  const { records, batch, settings } = reconciler;
  const now = reconciler.now();
  if (isFinal(found.status)) return;
  const ended = [found.depends_on, found.batch_job_id].some((id) => id !== null && isOver(known.get(id)));
  const record = ended ? await readAnew(reconciler, found) : found;
  if (record === undefined || isFinal(record.status)) return;
  if (record.batch_job_id === null) {
    if (record.cancel_requested_at !== null) await cancelJob(records, batch, settings, record, now);
    else if (secondsSince(record.created_at, now) > submitGraceSeconds)
      await submitJob(records, batch, settings, record, false);
    return;
  }
  const build = record.depends_on === null ? undefined : known.get(record.depends_on);
  if (build !== undefined) await observeBuild(records, record, build, now);
  const job = known.get(record.batch_job_id);
  if (job === undefined) {
    const reason = 'AWS Batch no longer knows this job, and it never reported its end.';
    await concludeJob(records, record, { status: 'FAILED', reason }, now, ...purgeLeftovers(record, now));
    return;
  }
  await observeJob(records, record, job, now);
  for (const waiting of [build, job])
    if (waiting !== undefined && (await giveUpWaiting(records, batch, record, waiting, now))) return;
  const cancelled = record.cancel_requested_at;
  const isAlive = rankOf(job.status) < finalRank;
  if (cancelled !== null && isAlive && secondsSince(cancelled, now) > cancelGraceSeconds) {
    await batch.terminate(job.id, 'Cancelled by a user.');
  }
}

/** Jobs that are compared at once. Batch takes 50 submissions a second of an account, and each takes some 100 ms. */
const atOnce = 4;

/**
 * Compare these unfinished jobs with Batch, so that none says RUNNING for ever. Repeatable at any time. Return the
 * errors of those that failed; none keeps another from its turn.
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
