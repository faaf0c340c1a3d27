import { randomUUID } from 'node:crypto';
import type { Logger } from '../../core/log.ts';
import type { Settings } from '../../core/settings.ts';
import { changeJob } from '../../data/jobs/job.ts';
import { holdsLease, type Lease } from '../../data/jobs/lease.ts';
import type { Item, Key, TableWriter, Write } from '../../data/table/table.ts';
import { tryWrite } from '../../data/table/write-label.ts';
import { type Acquired, acquireLease, type ContainerIdentity } from '../../jobs/acquire-lease.ts';
import { type JobRecord, jobIdOf, unfinishedJobOf } from '../../jobs/job-record.ts';
import type { Heart } from './heart.ts';
import type { JobStop } from './job-stop.ts';
import { longPatience, retryFor, shortPatience } from './retry-for.ts';

/**
 * Take the lease of a job. Return the reason if this container must not run it: the job has ended, or another
 * container runs it.
 * @param wanted key of the job's record, and its parser
 */
export function holdJob<R extends JobRecord>(
  records: TableWriter<'records'>,
  wanted: { subject: Key; parse(item: Item): R },
  me: ContainerIdentity,
  now: () => Date,
): Promise<Acquired<R>> {
  // Use one holder name for all retries. An attempt with a lost reply may have taken the lease. After a loss of many hosts
  // at once the table may throttle for minutes, and a container that gives up fails its job.
  const holder = randomUUID();
  return retryFor(longPatience, () => acquireLease(records, wanted, me, now(), holder));
}

/** A node of a job whose lease this container holds. */
export interface HeldJob<R extends JobRecord = JobRecord> {
  record: R;
  lease: Lease;
  node: number;
  records: TableWriter<'records'>;
  settings: Settings;
  stop: JobStop;
  /** Knows when the lease was renewed last. */
  heart: Heart;
  /** Tells whether a client reads what this node sends. */
  watch: { isWatched(): Promise<boolean> };
  log: Logger;
  now(): Date;
}

/** A condition for every write of a held job. It fails once another container has taken the lease. */
export const leaseCheck = ({ record, node, lease }: Pick<HeldJob, 'record' | 'node' | 'lease'>): Write =>
  holdsLease(jobIdOf(record), node, lease);

/**
 * Change the record of a running job. Nodes other than 0 write nothing.
 * @returns false once the lease is lost or the job has ended
 */
export async function noteProgress(job: HeldJob, set: Readonly<Record<string, unknown>>): Promise<boolean> {
  if (job.node > 0) return true;
  const { subject } = unfinishedJobOf(job.record);
  return tryWrite(
    retryFor(shortPatience, () => job.records.write(changeJob(subject, { set }), leaseCheck(job))),
  );
}
