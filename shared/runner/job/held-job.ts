import { randomUUID } from 'node:crypto';
import type { Logger } from '../../core/log.ts';
import type { Settings } from '../../core/settings.ts';
import { changeJob } from '../../data/job.ts';
import { appendLog } from '../../data/job-log.ts';
import { endLease, heartbeat, holdsLease, type Lease, usualHeartbeatSeconds } from '../../data/lease.ts';
import type { Item, Key, TableWriter, Write } from '../../data/table.ts';
import { ConditionFailedError } from '../../data/write-label.ts';
import { type Acquired, acquireLease, type ContainerIdentity } from '../../jobs/acquire-lease.ts';
import { type Conclusion, concludeJob } from '../../jobs/conclude.ts';
import { type JobRecord, jobIdOf, parseJobRecord, unfinishedJobOf } from '../../jobs/subject.ts';
import { JobWatch } from '../telemetry/job-watch.ts';
import { LogShipper } from '../telemetry/log-shipper.ts';
import type { JobStop } from './job-stop.ts';
import { retryFor } from './retry.ts';

/** A node of a job that this container holds the lease of. */
export interface HeldJob<R extends JobRecord = JobRecord> {
  record: R;
  lease: Lease;
  node: number;
  records: TableWriter<'records'>;
  settings: Settings;
  stop: JobStop;
  log: Logger;
  now(): Date;
}

/** Seconds for which a container tries to take its lease while the table is away. */
const leasePatienceSeconds = 60;
/** Seconds for which the outcome of a job is tried to be written while the table is away. */
const outcomeSeconds = 600;

/** Takes the lease of a job, whether or not the table answers at once. Answers why not where this is not to run it. */
export function holdJob<R extends JobRecord>(
  records: TableWriter<'records'>,
  wanted: { subject: Key; parse(item: Item): R },
  me: ContainerIdentity,
  now: () => Date,
): Promise<Acquired<R>> {
  const holder = randomUUID();
  return retryFor(leasePatienceSeconds, () => acquireLease(records, wanted, me, now(), holder));
}

const holds = ({ record, node, lease }: HeldJob): Write => holdsLease(jobIdOf(record), node, lease);

/**
 * Says every few seconds that this container lives, and stops the job when the lease is lost. Ends with the returned
 * function. A table that is away for a while loses no lease: it is the store that knows who holds it.
 */
export function keepAlive(
  { record, node, lease, records, stop, now, log }: HeldJob,
  heartbeatSeconds = usualHeartbeatSeconds,
): () => void {
  const beat = async (): Promise<void> => {
    try {
      await records.write(heartbeat(jobIdOf(record), node, lease, now()));
    } catch (error) {
      if (error instanceof ConditionFailedError) stop.because({ kind: 'superseded' });
      else log.warn('heartbeat', { error: error instanceof Error ? error.name : '' });
    }
  };
  const timer = setInterval(() => void beat(), heartbeatSeconds * 1000);
  return () => clearInterval(timer);
}

/** Changes the job's own record while it runs; only node 0 does. False once the lease is lost or the job has ended. */
export async function noteProgress(job: HeldJob, set: Readonly<Record<string, unknown>>): Promise<boolean> {
  if (job.node > 0) return true;
  const { subject } = unfinishedJobOf(job.record);
  try {
    await retryFor(60, () => job.records.write(changeJob(subject, { set }), holds(job)));
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}

/** Whether somebody wished this job to end; read anew, for the wish came after the job was read. */
export async function isCancelled({ records, record }: HeldJob): Promise<boolean> {
  const item = await retryFor(60, () => records.get(unfinishedJobOf(record).subject));
  return item === undefined || parseJobRecord(item).cancel_requested_at !== null;
}

/** Sends the log of this node home. The job stops when the lease is lost, or the log passes its limit. */
export function openLog({ record, node, lease, records, settings, stop, now }: HeldJob): LogShipper {
  const most = settings.limits.logBytes;
  const watch = new JobWatch(records, jobIdOf(record), node, now);
  return new LogShipper({
    sink: {
      append: (sequence, lines) => appendLog(records, jobIdOf(record), node, lease, sequence, lines, now()),
    },
    now,
    isWatched: () => watch.isWatched(),
    maxBytes: most,
    onLost: () => stop.because({ kind: 'superseded' }),
    onLimit: () => stop.because({ kind: 'limit', message: `The log reached its limit of ${most} bytes.` }),
  });
}

/**
 * Writes the outcome of the job, which only the holder of its lease can; `further` are writes that go with it.
 * False when it was not taken.
 */
export function conclude(
  job: HeldJob,
  conclusion: Conclusion,
  ...further: readonly Write[]
): Promise<boolean> {
  const { record, records, now } = job;
  return retryFor(outcomeSeconds, () =>
    concludeJob(records, record, conclusion, now(), holds(job), ...further),
  );
}

/** Tells node 0 how this node of a cluster ended. It may have ended, or the job be another's: then nobody listens. */
export async function reportEnd(
  { record, records, node, lease, log }: HeldJob,
  end: Conclusion,
): Promise<void> {
  const failure = end.status === 'SUCCEEDED' ? null : (end.reason ?? end.status);
  try {
    await retryFor(60, () => records.write(endLease(jobIdOf(record), node, lease, failure)));
  } catch (error) {
    log.info('end-not-reported', { error: error instanceof Error ? error.name : '' });
  }
}

/** What a fault of the service itself concludes a job with. */
export function conclusionOfFault(error: unknown, { log }: HeldJob): Conclusion {
  log.error('job-fault', { stack: error instanceof Error ? error.stack : String(error) });
  const name = error instanceof Error ? error.name : 'unknown';
  return {
    status: 'FAILED',
    reason: `The service could not go on with this job (${name}); its operator finds more in the log.`,
  };
}
