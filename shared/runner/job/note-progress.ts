import { changeJob } from '../../data/jobs/job.ts';
import { tryWrite } from '../../data/table/write-label.ts';
import { unfinishedJobOf } from '../../jobs/subject.ts';
import { type HeldJob, leaseCheck } from './hold-job.ts';
import { retryFor } from './retry-for.ts';

/** Seconds for which a note is retried while the table is unavailable. */
const patienceSeconds = 60;

/**
 * Change the record of a running job. Only node 0 does; on other nodes nothing is written.
 * @returns false once the lease is lost or the job has ended
 */
export async function noteProgress(job: HeldJob, set: Readonly<Record<string, unknown>>): Promise<boolean> {
  if (job.node > 0) return true;
  const { subject } = unfinishedJobOf(job.record);
  return tryWrite(
    retryFor(patienceSeconds, () => job.records.write(changeJob(subject, { set }), leaseCheck(job))),
  );
}
