import type { Logger } from '../core/log.ts';
import type { Settings } from '../core/settings.ts';
import type { Item, Key, TableWriter } from '../data/table/table.ts';
import type { CommandUser } from '../host/host.ts';
import type { ContainerIdentity } from '../jobs/acquire-lease.ts';
import type { Conclusion } from '../jobs/conclusion.ts';
import { exitCodes } from '../jobs/host-loss.ts';
import type { JobRecord } from '../jobs/job-record.ts';
import { cancelledReason, type Early } from '../jobs/reasons.ts';
import { noMask, type SecretMask } from './host/secret-mask.ts';
import { JobCharges } from './job/charge-job.ts';
import { conclusionOfError, findCancelled } from './job/conclusion-of.ts';
import { Heart } from './job/heart.ts';
import { keepAlive } from './job/heartbeat.ts';
import { type HeldJob, holdJob } from './job/hold-job.ts';
import { stopOnSigterm } from './job/job-stop.ts';
import { claimJobUser } from './job/job-user.ts';
import { JobWatch } from './telemetry/job-watch.ts';
import { type LogShipper, openLog } from './telemetry/log-shipper.ts';

/** What every job's program gets from its container. */
export interface JobHost {
  records: TableWriter<'records'>;
  settings: Settings;
  now(): Date;
  log: Logger;
}

/** The job that a container was started for. */
interface WantedJob<R extends JobRecord> {
  job_id: string;
  subject: Key;
  parse(item: Item): R;
  identity: ContainerIdentity;
  firstUid: number;
  /** Seconds between two heartbeats. */
  heartbeat: number;
}

/** The end of a run, with facts `E` that only its kind of job has. */
export type RunEnd<E> = E & {
  /**
   * Undefined if this container writes no conclusion: it was the build of an environment, the lease is lost, or Batch
   * decides on another attempt.
   */
  conclusion: Conclusion | undefined;
  /** Whether this container only built the environment and succeeded. */
  isBuilt?: boolean;
  /** The error that the command printed last. The log has it already. */
  crash?: string | undefined;
};

/** The parts of a run that depend on the kind of job. */
interface Run<E> {
  /** First line of the log. */
  title: string;
  /** Masks secrets in the log and in the reason. */
  mask?: SecretMask;
  /** What a cancelled job had not done yet, as its reason says: `before its command started`. */
  unstarted: Early;
  /** Facts of a run that did no work. */
  unrun: E;
  /** Create the folders of the run. Return its work. */
  prepare(user: CommandUser | undefined, shipper: LogShipper): Promise<() => Promise<RunEnd<E>>>;
  conclude(conclusion: Conclusion, end: RunEnd<E>): Promise<void>;
}

/**
 * Run a node of a job in this container: take its lease, keep it by heartbeats, do the work, write how it ended.
 * @param runOf returns the run of a job whose lease this container holds. The stack is disposed of after the run.
 * @returns the exit code of the container
 */
export async function runHeldJob<R extends JobRecord, E>(
  { records, settings, now, log }: JobHost,
  wantedJob: WantedJob<R>,
  runOf: (job: HeldJob<R>, cleanup: AsyncDisposableStack) => Promise<Run<E>>,
): Promise<number> {
  const stop = stopOnSigterm();
  const acquired = await holdJob(records, wantedJob, wantedJob.identity, now);
  if ('refused' in acquired) {
    log.info('not-run', { job_id: wantedJob.job_id, reason: acquired.refused });
    return exitCodes.succeeded;
  }
  const { node } = wantedJob.identity;
  const watch = new JobWatch(records, wantedJob.job_id, node, now);
  const job = { ...acquired, node, records, settings, stop, heart: new Heart(), watch, log, now };
  await using cleanup = new AsyncDisposableStack();
  const charges = new JobCharges(job);
  const onBeat = () => (job.node === 0 ? charges.note() : undefined);
  cleanup.defer(keepAlive(job, wantedJob.heartbeat, onBeat));
  const run = await runOf(job, cleanup);
  const { mask = noMask } = run;
  const shipper = openLog(job, mask);
  shipper.say(run.title);
  const { user, release } = await claimJobUser(wantedJob.firstUid);
  cleanup.defer(release);
  const work = await run.prepare(user, shipper);

  const end = await endOf(job, run, work);
  const conclusion = end.conclusion && masked(end.conclusion, mask);
  if (conclusion !== undefined && conclusion.reason !== null) {
    const printed = end.crash === undefined ? '' : `${mask.apply(end.crash)}\n`;
    shipper.say(conclusion.reason.replace(printed, ''));
  }
  await shipper.close();
  if (conclusion === undefined) return end.isBuilt === true ? exitCodes.succeeded : exitCodes.interrupted;
  await run.conclude(conclusion, end);
  return conclusion.status === 'SUCCEEDED' ? exitCodes.succeeded : exitCodes.failed;
}

/** Do the work unless the job was cancelled, and turn its result or error into the end of the run. */
async function endOf<E>(
  job: HeldJob,
  { unstarted, unrun }: Run<E>,
  work: () => Promise<RunEnd<E>>,
): Promise<RunEnd<E>> {
  try {
    const cancelled = await findCancelled(job);
    if (cancelled === undefined) return await work();
    const reason = cancelledReason(cancelled.by, unstarted);
    return { ...unrun, conclusion: { status: 'CANCELLED', reason } };
  } catch (error) {
    return { ...unrun, conclusion: await conclusionOfError(job, error) };
  }
}

/** The conclusion with secrets masked in its reason. */
const masked = ({ reason, ...conclusion }: Conclusion, mask: SecretMask): Conclusion => ({
  ...conclusion,
  reason: reason === null ? null : mask.apply(reason),
});
