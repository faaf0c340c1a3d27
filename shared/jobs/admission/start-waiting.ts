import type { Logger } from '../../core/log.ts';
import { changeJob, placesOf, type UnfinishedJob, userLimitKey } from '../../data/jobs/job.ts';
import { limitShare } from '../../data/jobs/vcpu-shares.ts';
import {
  changedLine,
  findLine,
  frontOf,
  type LineRow,
  leaveLine,
  lineKey,
  linesOf,
  listOwnWaits,
  parseLine,
  readyHeads,
  removeRow,
  type WaitingJob,
  type WaitingLine,
  waitFor,
  waitsForOwn,
} from '../../data/jobs/waiting-line.ts';
import { readAgain, retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { TableWriter, Write } from '../../data/table/table.ts';
import { tryWrite } from '../../data/table/try-write.ts';
import { type ConditionFailedError, WriteLabel } from '../../data/table/write-label.ts';
import type { Reconciler } from '../observation/reconcile.ts';
import { type JobRecord, parseJobRecord } from '../subject.ts';
import { submitJob } from '../submit.ts';
import { JobLimitError, takePlace } from './begin-job.ts';
import { endFront } from './end-waiting.ts';

/** Starts of one call: each takes about 100 ms on AWS, and functions run for 29 s. */
const maxStarts = 100;

const waitingRecord = new WriteLabel('record of the waiting job');

/** What became of the front of a line: its job, or the limit that leaves no place. */
type Outcome = { started: UnfinishedJob } | 'left' | 'unfinishedJobs' | 'vcpus' | 'sharedCluster';

/** Write a change of a line; false where somebody else has changed it since. */
async function unlessChanged(records: TableWriter<'records'>, writes: readonly Write[]): Promise<boolean> {
  return writes.length === 0 || tryWrite(records.write(...writes));
}

/** Give the job at the front of a line a place: one transaction takes the place and takes the job out of the line. */
async function startFront(
  reconciler: Reconciler,
  line: WaitingLine,
  { job, ticket }: WaitingJob,
): Promise<Outcome> {
  const { records, settings, now } = reconciler;
  const { limits } = settings;
  const leaving = leaveLine(line, ticket, now().getTime());
  const limit_share = limitShare(job.job_id, limits.vcpus);
  const set = {
    line_ticket: null,
    limit_share,
    begun_at: now().toISOString(),
    checked_at: now().toISOString(),
    status_reason: 'Its turn has come; on its way to the job queue.',
  };
  const begin = waitingRecord.on(changeJob(job.subject, { set }, { equals: { line_ticket: ticket } }));
  const started = { ...job, limit_share };
  try {
    await takePlace(records, started, limits, [begin, ...leaving]);
    return { started };
  } catch (error) {
    if (error instanceof JobLimitError && error.limit !== 'line' && error.limit !== 'waitingJobs')
      return error.limit;
    if (!waitingRecord.failedIn(error) || changedLine.failedIn(error)) throw error;
    // Its record was deleted.
    await records.write(...leaving);
    return 'left';
  }
}

/** Try the line of a row, whose turn it is. */
async function tryLine(reconciler: Reconciler, row: LineRow): Promise<Outcome> {
  const { records, settings } = reconciler;
  const attempt = async (): Promise<Outcome | typeof readAgain> => {
    const [line, front] = await Promise.all([findLine(records, row.line_id), frontOf(records, row.line_id)]);
    if (line === undefined || line.row !== row.sk) {
      // Its line is empty, or has moved on since the row was read.
      if (line === undefined) await unlessChanged(records, [removeRow(row)]);
      return 'left';
    }
    if (front === undefined) return readAgain;
    if (front.job.vcpus > settings.limits.vcpus) {
      // Nothing would ever start it or those behind it.
      const reason = `It asks for ${front.job.vcpus} vCPUs, and this deployment now allows ${settings.limits.vcpus}.`;
      await endFront(records, line, front, { status: 'FAILED', reason }, reconciler.now());
      return 'left';
    }
    return startFront(reconciler, line, front);
  };
  const isConflict = (error: ConditionFailedError) => changedLine.failedIn(error);
  return retryOnConflict(attempt, { isConflict, giveUp: () => 'left' });
}

/** Let the lines of a user whose job has ended have their turn. */
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

/** Let a line wait for the end of a job of its user. One that ended in between has not seen that: look again. */
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
    if (item !== undefined) await submitJob(records, batch, settings, parseJobRecord(item), true, keys);
  } catch (error) {
    // The reconciler submits it.
    log?.warn('submit-later', { job_id: job.job_id, error: error instanceof Error ? error.name : '' });
  }
}

/**
 * Start as many jobs that wait as there are places, and submit them to Batch. Lines take turns; the work is that of the
 * starts, however many jobs wait. Can be called at any time, by several at once.
 * @param ended user whose job has ended, where it is known
 * @param log where errors of submissions are logged, which the reconciler repeats
 */
export async function startWaiting(reconciler: Reconciler, ended?: string, log?: Logger): Promise<void> {
  const { records } = reconciler;
  if (ended !== undefined) await wakeLines(reconciler, ended);
  let isClusterTaken = false;
  for (let starts = 0; starts < maxStarts; starts += 1) {
    const heads = await readyHeads(records);
    const head = heads.find(({ kind }) => !(isClusterTaken && kind === 'cluster'));
    if (head === undefined) return;
    const outcome = await tryLine(reconciler, head);
    if (outcome === 'vcpus') return;
    if (outcome === 'sharedCluster') isClusterTaken = true;
    else if (outcome === 'unfinishedJobs') await waitForOwn(reconciler, head);
    else if (outcome !== 'left') await submitStarted(reconciler, outcome.started, log);
  }
}

/** Start as {@link startWaiting} does, and look at every line: for what a crash or a lost event has left. */
export async function startAllWaiting(reconciler: Reconciler): Promise<void> {
  let after: string | undefined;
  do {
    const page = await listOwnWaits(reconciler.records, after);
    const owners = new Set(page.line_ids.map((line_id) => line_id.split('#')[0] ?? ''));
    for (const user_id of owners) await wakeLines(reconciler, user_id);
    after = page.next;
  } while (after !== undefined);
  await startWaiting(reconciler);
}

/** Start who waits, after a request that has let a job wait, or ended one. Never throws: the reconciler repeats it. */
export async function startWaitingInRequest(
  reconciler: Reconciler,
  record: Pick<JobRecord, 'user_id'>,
  log: Logger,
): Promise<void> {
  try {
    await startWaiting(reconciler, record.user_id, log);
  } catch (error) {
    log.warn('start-later', { error: error instanceof Error ? error.name : '' });
  }
}
