import { randomUUID } from 'node:crypto';
import type { Logger } from '../../core/log.ts';
import type { Settings } from '../../core/settings.ts';
import { holdsLease, type Lease } from '../../data/jobs/lease.ts';
import type { Item, Key, TableWriter, Write } from '../../data/table/table.ts';
import { type Acquired, acquireLease, type ContainerIdentity } from '../../jobs/acquire-lease.ts';
import { type JobRecord, jobIdOf } from '../../jobs/subject.ts';
import type { JobStop } from './job-stop.ts';
import { retryFor } from './retry-for.ts';

/** A node of a job whose lease this container holds. */
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

/** Seconds for which taking the lease is retried while the table is unavailable. */
const leasePatienceSeconds = 60;

/**
 * Take the lease of a job. Return the reason where this container must not run it: the job has ended, or another
 * container runs it.
 * @param wanted key of the job's record, and its parser
 */
export function holdJob<R extends JobRecord>(
  records: TableWriter<'records'>,
  wanted: { subject: Key; parse(item: Item): R },
  me: ContainerIdentity,
  now: () => Date,
): Promise<Acquired<R>> {
  // One name for all retries: a try whose reply was lost may have taken the lease.
  const holder = randomUUID();
  return retryFor(leasePatienceSeconds, () => acquireLease(records, wanted, me, now(), holder));
}

/** The check that goes with every write of a held job: it fails once another container has taken the lease. */
export const leaseCheck = ({ record, node, lease }: Pick<HeldJob, 'record' | 'node' | 'lease'>): Write =>
  holdsLease(jobIdOf(record), node, lease);
