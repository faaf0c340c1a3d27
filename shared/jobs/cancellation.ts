import type { BatchControl } from '../aws/batch.ts';
import type { Deadline } from '../core/deadline.ts';
import { errorName } from '../core/error-text.ts';
import type { Logger } from '../core/log.ts';
import type { Settings } from '../core/settings.ts';
import { markLeft } from '../data/experiments/catalogue-mark.ts';
import { releaseCheckpoints } from '../data/experiments/continuation.ts';
import { type Experiment, findExperiment, listExperiments } from '../data/experiments/experiment.ts';
import { changeJob, endWaitingOf } from '../data/jobs/job.ts';
import { isFinal, rankOf } from '../data/jobs/job-status.ts';
import { changedLine, findLine, leaveLine, lineOf } from '../data/jobs/waiting-line.ts';
import { countersKey, parseCounters } from '../data/projects/project.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableWriter } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import { settleCharges, settledFields } from './budget.ts';
import { concludeJob, endNotices, finalFields, owedTurn, purgeLeftovers } from './conclusion.ts';
import {
  batchNameOf,
  buildNameOf,
  isCompression,
  type JobRecord,
  parseJobRecord,
  unfinishedJobOf,
} from './job-record.ts';
import { cancelledReason, reasons } from './reasons.ts';
import { queueOf } from './submission.ts';

/**
 * Cancel a job, whatever its status. Record the request first: if this process dies, the reconciler completes it.
 * A job that has no container yet ends at once. A running job stops its command, which has some seconds to save.
 * @returns false if the job had already ended
 */
export async function cancelJob(
  records: TableWriter<'records'>,
  batch: BatchControl,
  settings: Settings,
  record: JobRecord,
  { by: asking, now }: Cancelling,
): Promise<boolean> {
  if (isFinal(record.status)) return false;
  // A repeated request does not change the recorded user.
  const by = record.cancelled_by ?? asking;
  const { subject } = unfinishedJobOf(record);
  if (record.line_ticket !== null) {
    if (await concludeJob(records, record, unstarted(by), now)) return true;
    // The job has just left its line.
    const item = await records.get(subject);
    return item !== undefined && cancelJob(records, batch, settings, parseJobRecord(item), { by, now });
  }
  try {
    await records.write(
      changeJob(subject, {
        set: { cancel_requested_at: now.toISOString(), cancelled_by: by, status_reason: reasons.cancelling },
      }),
    );
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
  for (const id of await batchJobsOf(batch, settings, record)) await batch.terminate(id, cancelledReason(by));
  if (record.status_rank < rankOf('STARTING')) {
    // An earlier attempt, or the build of the environment, may have left objects.
    await concludeJob(records, record, unstarted(by), now, ...purgeLeftovers(record, now));
  }
  return true;
}

/** User who cancels a job, and the time. */
interface Cancelling {
  /** Name of a user. Null if no user asked for it, for example because its project is deleted. */
  by: string | null;
  now: Date;
}

/** Conclusion of a job that had no container yet. */
const unstarted = (by: string | null) => ({
  status: 'CANCELLED' as const,
  reason: cancelledReason(by, 'before it started'),
});

/** Return the ids of all Batch jobs of a record, including jobs whose submission is not recorded yet. */
async function batchJobsOf(batch: BatchControl, settings: Settings, record: JobRecord): Promise<string[]> {
  const noted = [record.depends_on, record.batch_job_id].filter((id) => id !== null);
  if (record.status !== 'CREATED') return noted;
  const found = await Promise.all([
    ...(isCompression(record) ? [] : [batch.findByName(settings.train.queue, buildNameOf(record))]),
    batch.findByName(queueOf(record, settings).queue, batchNameOf(record)),
  ]);
  return [...new Set([...noted, ...found.filter((id) => id !== undefined)])];
}

/**
 * Cancel all unfinished trainings of a project, while time remains. Cancel the waiting jobs in batches first, then
 * the jobs that have a place.
 * @returns the number of cancelled jobs, and whether these were all
 */
export async function cancelAll(
  context: Context,
  project_id: string,
  hasTime: Deadline,
): Promise<{ cancelled: number; complete: boolean }> {
  const found: Experiment[] = [];
  for await (const some of unfinishedOf(context, project_id, hasTime)) found.push(...some);
  const lines = new Map<string, Experiment[]>();
  const placed: Experiment[] = [];
  for (const job of found) {
    const line_id = lineOf(unfinishedJobOf(job));
    if (job.line_ticket === null) placed.push(job);
    else lines.set(line_id, [...(lines.get(line_id) ?? []), job]);
  }
  let cancelled = 0;
  // Begin at the end of the line, so no job gets a place just before its cancellation.
  for (const jobs of lines.values()) {
    jobs.sort((a, b) => (b.line_ticket ?? 0) - (a.line_ticket ?? 0));
    for (const some of chunks(jobs, waitingAtOnce)) {
      if (!hasTime()) break;
      if (await endTogether(context, project_id, some)) cancelled += some.length;
      else cancelled += await cancelEach(context, some, hasTime);
    }
  }
  cancelled += await cancelEach(context, placed, hasTime);
  return { cancelled, complete: hasTime() };
}

interface Context {
  records: TableWriter<'records'>;
  batch: BatchControl;
  settings: Settings;
  now(): Date;
  /** Name of the user who asks. */
  by: string;
  log: Logger;
}

/** Yield pages of the unfinished trainings of a project that nobody has cancelled yet, newest first. */
async function* unfinishedOf(
  { records }: Context,
  project_id: string,
  hasTime: Deadline,
): AsyncGenerator<Experiment[]> {
  const item = await records.get(countersKey(project_id));
  let unfinished = item === undefined ? 0 : parseCounters(item).unfinished;
  let after: string | undefined;
  // The counter does not include experiments that a client records.
  while (unfinished > 0 && hasTime()) {
    const page = await listExperiments(records, project_id, { limit: pageSize, after });
    const found = page.items.filter(({ kind, status }) => kind !== 'logged' && !isFinal(status));
    unfinished -= found.length;
    yield found.filter(({ cancel_requested_at }) => cancel_requested_at === null);
    if (page.next === undefined) return;
    after = page.next;
  }
}

const pageSize = 200;

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );

/**
 * Jobs of a line that end in one transaction. Each takes six writes and one for its token, and all share up to five, of at
 * most 100.
 */
const waitingAtOnce = 13;

/**
 * End jobs that wait in one line, all of one project, in one transaction.
 * @returns false if one of them has left the line; then nothing was written
 */
async function endTogether(
  { records, now, by }: Context,
  project_id: string,
  jobs: readonly Experiment[],
): Promise<boolean> {
  const [first] = jobs;
  if (first === undefined) return true;
  const set = { ...finalFields(unstarted(by), now()), line_ticket: null };
  const told = await Promise.all(jobs.map((job) => endNotices(records, job, unstarted(by), now())));
  const end = async (): Promise<boolean> => {
    const line = await findLine(records, lineOf(unfinishedJobOf(first)));
    if (line === undefined) return false;
    const tickets = jobs.map(({ line_ticket }) => line_ticket ?? 0);
    const ended = jobs.flatMap((job) => [
      changeJob(
        unfinishedJobOf(job).subject,
        { set: { ...set, ...settledFields(job, now()) } },
        { equals: { line_ticket: job.line_ticket ?? 0 } },
      ),
      markLeft(project_id, job.experiment_id),
      ...releaseCheckpoints(job),
      ...owedTurn(job, now()),
    ]);
    try {
      await records.write(
        ...ended,
        ...told.flat(),
        ...leaveLine(line, tickets),
        endWaitingOf(project_id, jobs.length),
        ...settleCharges(jobs, now()),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError && !error.isOnly(changedLine)) return false;
      throw error;
    }
  };
  return retryOnConflict(end, { giveUp: () => false });
}

/** Cancel jobs one by one, several in parallel. @returns the number of jobs that had not ended */
async function cancelEach(context: Context, jobs: readonly Experiment[], hasTime: Deadline): Promise<number> {
  let cancelled = 0;
  for (const some of chunks(jobs, runningAtOnce)) {
    if (!hasTime()) break;
    const results = await Promise.all(some.map((job) => cancelOne(context, job)));
    cancelled += results.filter(Boolean).length;
  }
  return cancelled;
}

/** Number of submitted jobs to cancel in parallel. */
const runningAtOnce = 4;

/**
 * Cancel one job. If Batch is unreachable, the request is recorded and the reconciler completes it.
 * @returns false if the job had already ended
 */
async function cancelOne(
  { records, batch, settings, now, by, log }: Context,
  { project_id, experiment_id }: Experiment,
): Promise<boolean> {
  const read = () => findExperiment(records, project_id, experiment_id);
  const present = await read();
  if (present === undefined) return false;
  try {
    return await cancelJob(records, batch, settings, present, { by, now: now() });
  } catch (error) {
    if ((await read())?.cancel_requested_at == null) throw error;
    log.warn('cancel-later', { job_id: experiment_id, error: errorName(error) });
    return true;
  }
}
