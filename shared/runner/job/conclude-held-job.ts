import { errorName } from '../../core/error-text.ts';
import { endLease } from '../../data/jobs/lease.ts';
import type { Write } from '../../data/table/table.ts';
import { type Conclusion, concludeJob } from '../../jobs/conclusion.ts';
import { jobIdOf } from '../../jobs/job-record.ts';
import { type HeldJob, leaseCheck } from './hold-job.ts';
import { longPatience, retryFor, shortPatience } from './retry-for.ts';

/**
 * Write the conclusion of a job as the holder of its lease, together with the writes `further`.
 * @returns false if it was refused: the lease is lost, the job has ended, or a condition of `further` fails
 */
export function concludeHeldJob(
  job: HeldJob,
  conclusion: Conclusion,
  ...further: readonly Write[]
): Promise<boolean> {
  const { record, records, now } = job;
  return retryFor(longPatience, () =>
    concludeJob(records, record, conclusion, now(), leaseCheck(job), ...further),
  );
}

/**
 * Report this node's end to node 0 of the cluster. Never throws: node 0 may have ended, and then nobody reads the
 * report.
 */
export async function reportNodeEnd(
  { record, records, node, lease, log }: HeldJob,
  conclusion: Conclusion,
): Promise<void> {
  const failure = conclusion.status === 'SUCCEEDED' ? null : (conclusion.reason ?? conclusion.status);
  try {
    await retryFor(shortPatience, () => records.write(endLease(jobIdOf(record), node, lease, failure)));
  } catch (error) {
    log.info('end-not-reported', { error: errorName(error) });
  }
}
