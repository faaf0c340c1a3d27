import type { Deadline } from '../core/deadline.ts';
import { errorName } from '../core/error-text.ts';
import type { Logger } from '../core/log.ts';
import type { Limits } from '../core/settings.ts';
import { markLeft } from '../data/experiments/catalogue-mark.ts';
import { foldNowAndThen } from '../data/experiments/fold-catalogue.ts';
import { changeJob, countInProject, placesOf, type UnfinishedJob, userLimitKey } from '../data/jobs/job.ts';
import { limitShare } from '../data/jobs/vcpu-shares.ts';
import {
  changedLine,
  findLine,
  frontOf,
  isAnyReady,
  joinLine,
  type LineRow,
  leaveLine,
  lineKey,
  lineOf,
  linesOf,
  listOwnWaits,
  nextTicket,
  parseLine,
  positionOf,
  readyHeads,
  removeRow,
  type WaitingJob,
  type WaitingLine,
  waitFor,
  waitsForOwn,
} from '../data/jobs/waiting-line.ts';
import { withoutAudit } from '../data/table/audited-writer.ts';
import { pagesOf } from '../data/table/pages-of.ts';
import { readAgain, retryOnConflict, TableBusyError } from '../data/table/retry-on-conflict.ts';
import type { Item, Key, TableReader, TableWriter, Write } from '../data/table/table.ts';
import { type ConditionFailedError, tryWrite, WriteLabel } from '../data/table/write-label.ts';
import { type Conclusion, concludeJob } from './conclusion.ts';
import { type JobRecord, parseJobRecord, type Reconciler, unfinishedJobOf } from './job-record.ts';
import { beginJob, JobLimitError, type PlaceLimits, takeSlot } from './job-slots.ts';
import { lineReason, reasons } from './reasons.ts';
import { submitJob } from './submission.ts';

/**
 * Start as many waiting jobs as places are free, and submit them to Batch. Lines take turns. The cost depends on
 * the number of starts, not on the number of waiting jobs. Any process may call this at any time, also in
 * parallel.
 * @param ended user whose job has ended, if known
 * @param log receives errors of submissions, which the reconciler repeats
 */
export async function startWaiting(reconciler: Reconciler, ended?: string, log?: Logger): Promise<void> {
  const { records } = reconciler;
  if (ended !== undefined) await wakeLines(reconciler, ended);
  let isClusterTaken = false;
  for (let starts = 0; starts < maxStarts; starts += 1) {
    const heads = await readyHeads(records);
    const head = heads.find(({ kind }) => !(isClusterTaken && kind === 'cluster'));
    if (head === undefined) return;
    const outcome = await tryQueue(reconciler, head);
    if (outcome === 'vcpus') return;
    if (outcome === 'sharedCluster') isClusterTaken = true;
    else if (outcome === 'unfinishedJobs') await waitForOwn(reconciler, head);
    else if (outcome !== 'left') {
      await submitStarted(reconciler, outcome.started, log);
      const { project_id, job_id } = outcome.started;
      if (project_id !== null) await foldNowAndThen(records, project_id, job_id);
    }
  }
}

/** Give the lines of a user whose job has ended their turn. */
async function wakeLines({ records, settings }: Reconciler, user_id: string): Promise<void> {
  const keys = [userLimitKey(user_id), ...linesOf(user_id).map(lineKey)];
  const wake = async (): Promise<undefined | typeof readAgain> => {
    const [places, ...items] = await records.batchGet(keys);
    if (placesOf(places) >= settings.limits.unfinishedJobs) return undefined;
    const lines = items.map(parseLine).filter((line) => line !== undefined);
    let areAwake = true;
    for (const line of lines.filter(waitsForOwn))
      areAwake &&= await unlessChanged(records, waitFor(line, 'turn'));
    return areAwake ? undefined : readAgain;
  };
  await retryOnConflict(wake);
}

/** Write a change of a line. Return false if another process has changed the line since the read. */
async function unlessChanged(records: TableWriter<'records'>, writes: readonly Write[]): Promise<boolean> {
  return writes.length === 0 || tryWrite(records.write(...writes));
}

/** Maximum starts in one call. Each takes about 100 ms on AWS, and functions run for at most 29 s. */
const maxStarts = 100;

/** Try to start the front job of the line whose turn it is. */
async function tryQueue(reconciler: Reconciler, row: LineRow): Promise<Outcome> {
  const { records, settings } = reconciler;
  const attempt = async (): Promise<Outcome | typeof readAgain> => {
    const [line, front] = await Promise.all([findLine(records, row.line_id), frontOf(records, row.line_id)]);
    if (line === undefined || line.row !== row.sk) {
      // The line is empty, or its row has moved since the read.
      if (line === undefined) await unlessChanged(records, [removeRow(row)]);
      return 'left';
    }
    if (front === undefined) return readAgain;
    if (front.job.vcpus > settings.limits.vcpus) {
      // This job can never start, and it would block the jobs behind it.
      const reason = reasons.tooManyVcpus(front.job.vcpus, settings.limits.vcpus);
      await endFront(records, line, front, { status: 'FAILED', reason }, reconciler.now());
      return 'left';
    }
    return startFront(reconciler, line, front);
  };
  const isConflict = (error: ConditionFailedError) => changedLine.failedIn(error);
  return retryOnConflict(attempt, { isConflict, giveUp: () => 'left' });
}

/** Result for the front of a line: its started job, or the limit that leaves no place. */
type Outcome = { started: UnfinishedJob } | 'left' | 'unfinishedJobs' | 'vcpus' | 'sharedCluster';

/**
 * End the job at the front of a line, which never started. If its record is gone, the job only leaves the line.
 */
async function endFront(
  records: TableWriter<'records'>,
  line: WaitingLine,
  { job, ticket }: WaitingJob,
  conclusion: Conclusion,
  now: Date,
): Promise<void> {
  const item = await records.get(job.subject);
  if (item !== undefined && (await concludeJob(records, parseJobRecord(item), conclusion, now))) return;
  await tryWrite(records.write(...leaveLine(line, ticket)));
}

/**
 * Give the job at the front of a line a place. One transaction takes the place and removes the job from the line.
 */
async function startFront(
  reconciler: Reconciler,
  line: WaitingLine,
  { job, ticket }: WaitingJob,
): Promise<Outcome> {
  const { records, settings, now } = reconciler;
  const { limits } = settings;
  const leaving = leaveLine(line, ticket, now().getTime());
  const limit_share = limitShare(job.job_id, limits.vcpus);
  const at = now().toISOString();
  const set = {
    line_ticket: null,
    limit_share,
    begun_at: at,
    checked_at: at,
    // This process submits it.
    submitting_at: at,
    status_reason: reasons.itsTurn,
  };
  const begin = waitingRecord.on(changeJob(job.subject, { set }, { equals: { line_ticket: ticket } }));
  const started = { ...job, limit_share };
  const { project_id, job_id } = job;
  const marked = project_id === null ? [] : [markLeft(project_id, job_id)];
  try {
    await takeSlot(records, started, limits, [begin, ...marked, ...leaving]);
    return { started };
  } catch (error) {
    if (error instanceof JobLimitError && error.limit !== 'line' && error.limit !== 'waitingJobs')
      return error.limit;
    if (!waitingRecord.failedIn(error) || changedLine.failedIn(error)) throw error;
    // The record of the job was deleted.
    await records.write(...leaving);
    return 'left';
  }
}

const waitingRecord = new WriteLabel('record of the waiting job');

/**
 * Let a line wait for the end of a job of its user. A job that ended in between did not wake the line, so check
 * again.
 */
async function waitForOwn(reconciler: Reconciler, { line_id, sk }: LineRow): Promise<void> {
  const line = await findLine(reconciler.records, line_id);
  if (line === undefined || line.row !== sk) return;
  if (await unlessChanged(reconciler.records, waitFor(line, 'own')))
    await wakeLines(reconciler, line.user_id);
}

async function submitStarted(reconciler: Reconciler, job: UnfinishedJob, log?: Logger): Promise<void> {
  const { records, batch, settings, keys } = reconciler;
  try {
    const item = await records.get(job.subject);
    if (item !== undefined) await submitJob(records, batch, settings, parseJobRecord(item), undefined, keys);
  } catch (error) {
    // The reconciler submits it later.
    log?.warn('submit-later', { job_id: job.job_id, error: errorName(error) });
  }
}

/**
 * Begin a job, or put it in line if a limit leaves no place or other jobs wait. The caller must then call
 * `startWaiting`: a place may have become free before the job joined the line.
 * @param writesOf returns the writes that record the job; receives the ticket if the job waits
 * @returns whether the job waits
 * @throws JobLimitError `waitingJobs` if the line is full
 * @throws ConditionFailedError if a condition of the writes does not hold
 */
export async function beginOrWait(
  records: TableWriter<'records'>,
  job: UnfinishedJob,
  limits: PlaceLimits & Pick<Limits, 'waitingJobs'>,
  writesOf: (line_ticket: number | null) => readonly Write[],
  now: Date,
): Promise<boolean> {
  // Only read this; a check in the transaction would make every job contend for the same item.
  const othersWait = await isAnyReady(records);
  if (!othersWait) {
    try {
      await beginJob(records, job, limits, writesOf(null));
      return false;
    } catch (error) {
      if (!(error instanceof JobLimitError)) throw error;
    }
  }
  await waitInLine(records, job, limits.waitingJobs, writesOf, now);
  return true;
}

/** Put a job at the end of its line. @throws JobLimitError if the line is full */
function waitInLine(
  records: TableWriter<'records'>,
  job: UnfinishedJob,
  waitingJobs: number,
  writesOf: (line_ticket: number) => readonly Write[],
  now: Date,
): Promise<void> {
  const join = async () => {
    const line = await findLine(records, lineOf(job));
    if (line !== undefined && line.waiting >= waitingJobs) throw new JobLimitError('waitingJobs');
    const joining = joinLine(job, line, now);
    await records.write(...writesOf(nextTicket(line)), ...joining, ...countInProject(job));
  };
  return retryOnConflict(join, {
    isConflict: (error: ConditionFailedError) => error.isOnly(changedLine),
    calls: joinsAtOnce,
    giveUp: (cause) => {
      throw new TableBusyError('the line of the user changed during every attempt', { cause });
    },
  });
}

/**
 * Requests of one user that can join a line at the same moment. In each round one succeeds and the others retry.
 */
const joinsAtOnce = 50;

/** Return the record fields of a waiting job. */
export const waitingFields = (line_ticket: number) => ({
  line_ticket,
  status_reason: reasons.inLine,
});

/** A job, with its position in line if it waits. */
export type Placed<J> = J & { place_in_line?: number | null };

/**
 * Add the reason and the position in line to each waiting job. Read once for all jobs, or not at all if none
 * waits.
 */
export async function withQueuePosition<J extends JobRecord>(
  records: TableReader<'records'>,
  limits: Pick<Limits, 'unfinishedJobs' | 'vcpus'>,
  jobs: readonly J[],
): Promise<Placed<J>[]> {
  const keysOf = (job: JobRecord) => ({
    line: lineKey(lineOf(unfinishedJobOf(job))),
    user: userLimitKey(job.user_id),
  });
  const nameOf = ({ pk, sk }: Key) => `${pk}/${sk}`;
  const wanted = new Map<string, Key>();
  for (const job of jobs)
    if (job.line_ticket !== null) for (const key of Object.values(keysOf(job))) wanted.set(nameOf(key), key);
  if (wanted.size === 0) return [...jobs];
  const all = await readAll(records, [...wanted.values()]);
  return jobs.map((job) => {
    const keys = keysOf(job);
    const line = job.line_ticket === null ? undefined : parseLine(all.get(nameOf(keys.line)));
    if (line === undefined || job.line_ticket === null) return job;
    const place_in_line = positionOf(line, job.line_ticket);
    const places = placesOf(all.get(nameOf(keys.user)));
    return { ...job, place_in_line, status_reason: lineReason(job, place_in_line, places, limits) };
  });
}

async function readAll(records: TableReader<'records'>, keys: readonly Key[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  for (let from = 0; from < keys.length; from += keysAtOnce)
    for (const item of await records.batchGet(keys.slice(from, from + keysAtOnce)))
      if (item !== undefined) found.set(`${item.pk}/${item.sk}`, item);
  return found;
}

/** Maximum keys in one read. */
const keysAtOnce = 100;

/** Add the reason and the position in line to one job, if it waits. */
export async function placeOneInLine<J extends JobRecord>(
  records: TableReader<'records'>,
  limits: Pick<Limits, 'unfinishedJobs' | 'vcpus'>,
  job: J,
): Promise<Placed<J>> {
  const [placed = job] = await withQueuePosition(records, limits, [job]);
  return placed;
}

/**
 * Start waiting jobs as {@link startWaiting} does, and wake every line. This repairs the effects of a crash or a
 * lost event.
 */
export async function startAllWaiting(reconciler: Reconciler): Promise<void> {
  for await (const page of pagesOf((after) => listOwnWaits(reconciler.records, after))) {
    const owners = new Set(page.line_ids.map((line_id) => line_id.split('#')[0] ?? ''));
    for (const user_id of owners) await wakeLines(reconciler, user_id);
  }
  await startWaiting(reconciler);
}

/** Start waiting jobs after a request that put a job in line or ended one. Never throw: the reconciler retries. */
export async function startWaitingInRequest(
  reconciler: Reconciler,
  record: Pick<JobRecord, 'user_id'>,
  log: Logger,
): Promise<void> {
  try {
    await startWaiting({ ...reconciler, records: withoutAudit(reconciler.records) }, record.user_id, log);
  } catch (error) {
    log.warn('start-later', { error: errorName(error) });
  }
}

/**
 * Cancel the waiting jobs of a deleted user. Jobs that have a place continue.
 * @returns whether no waiting job remains; false if time ran out
 */
export async function cancelWaitingOf(
  records: TableWriter<'records'>,
  user_id: string,
  hasTime: Deadline,
  now: Date,
): Promise<boolean> {
  const conclusion = { status: 'CANCELLED', reason: reasons.userDeleted } as const;
  for (const line_id of linesOf(user_id)) {
    for (;;) {
      if (!hasTime()) return false;
      const [line, front] = await Promise.all([findLine(records, line_id), frontOf(records, line_id)]);
      if (line === undefined || front === undefined) break;
      await endFront(records, line, front, conclusion, now);
    }
  }
  return true;
}
