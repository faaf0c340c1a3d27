import type { BatchControl } from '../aws/batch.ts';
import type { Deadline } from '../core/deadline.ts';
import type { Logger } from '../core/log.ts';
import type { Settings } from '../core/settings.ts';
import { releaseCheckpoints } from '../data/experiments/continuation.ts';
import { type Experiment, findExperiment, listExperiments } from '../data/experiments/experiment.ts';
import { changeJob, endWaitingOf } from '../data/jobs/job.ts';
import { isFinal } from '../data/jobs/job-status.ts';
import { changedLine, findLine, leaveLine, lineOf } from '../data/jobs/waiting-line.ts';
import { countersKey, parseCounters } from '../data/projects/project.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableWriter } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import { cancelJob, unstarted } from './cancel.ts';
import { finalFields } from './conclude.ts';
import { unfinishedJobOf } from './subject.ts';

/** Jobs of a line that end in one transaction: three writes each, and two of them all, of the hundred that it takes. */
const waitingAtOnce = 30;
/** Jobs that Batch has and that are ended at the same time. */
const runningAtOnce = 4;
const pageSize = 200;

interface Context {
  records: TableWriter<'records'>;
  batch: BatchControl;
  settings: Settings;
  now(): Date;
  /** Name of the user who asks. */
  by: string;
  log: Logger;
}

/** Trainings of a project that have not ended and that nobody has cancelled yet, newest first, as pages. */
async function* unfinishedOf(
  { records }: Context,
  project_id: string,
  hasTime: Deadline,
): AsyncGenerator<Experiment[]> {
  const item = await records.get(countersKey(project_id));
  let unfinished = item === undefined ? 0 : parseCounters(item).unfinished;
  let after: string | undefined;
  // Experiments that a client records are none of those that are counted.
  while (unfinished > 0 && hasTime()) {
    const page = await listExperiments(records, project_id, { limit: pageSize, after });
    const found = page.items.filter(({ kind, status }) => kind !== 'logged' && !isFinal(status));
    unfinished -= found.length;
    yield found.filter(({ cancel_requested_at }) => cancel_requested_at === null);
    if (page.next === undefined) return;
    after = page.next;
  }
}

/**
 * End jobs that wait in one line, all of one project, in one transaction.
 * @returns false where one of them has left the line, so that nothing was written
 */
async function endTogether(
  { records, now, by }: Context,
  project_id: string,
  jobs: readonly Experiment[],
): Promise<boolean> {
  const [first] = jobs;
  if (first === undefined) return true;
  const set = { ...finalFields(unstarted(by), now()), line_ticket: null };
  const end = async (): Promise<boolean> => {
    const line = await findLine(records, lineOf(unfinishedJobOf(first)));
    if (line === undefined) return false;
    const tickets = jobs.map(({ line_ticket }) => line_ticket ?? 0);
    const ended = jobs.flatMap((job) => [
      changeJob(unfinishedJobOf(job).subject, { set }, { equals: { line_ticket: job.line_ticket ?? 0 } }),
      ...releaseCheckpoints(job),
    ]);
    try {
      await records.write(...ended, ...leaveLine(line, tickets), endWaitingOf(project_id, jobs.length));
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError && !error.isOnly(changedLine)) return false;
      throw error;
    }
  };
  return retryOnConflict(end, { giveUp: () => false });
}

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );

/**
 * Cancel one job. Where Batch cannot be reached that is recorded, and the reconciler completes it.
 * @returns false where it had ended already
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
    log.warn('cancel-later', { job_id: experiment_id, error: error instanceof Error ? error.name : '' });
    return true;
  }
}

/** Cancel jobs one by one, some at a time. @returns how many of them had not ended */
async function cancelEach(context: Context, jobs: readonly Experiment[], hasTime: Deadline): Promise<number> {
  let cancelled = 0;
  for (const some of chunks(jobs, runningAtOnce)) {
    if (!hasTime()) break;
    const results = await Promise.all(some.map((job) => cancelOne(context, job)));
    cancelled += results.filter(Boolean).length;
  }
  return cancelled;
}

/**
 * Cancel all trainings of a project that have not ended, while there is time: those that wait in line many at once, then
 * those that have a place.
 * @returns how many were cancelled, and whether that is all of them
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
  // Those who stand last first, so that none gets a place that is about to be cancelled.
  for (const jobs of lines.values()) {
    jobs.sort((one, other) => (other.line_ticket ?? 0) - (one.line_ticket ?? 0));
    for (const some of chunks(jobs, waitingAtOnce)) {
      if (!hasTime()) break;
      if (await endTogether(context, project_id, some)) cancelled += some.length;
      else cancelled += await cancelEach(context, some, hasTime);
    }
  }
  cancelled += await cancelEach(context, placed, hasTime);
  return { cancelled, complete: hasTime() };
}
