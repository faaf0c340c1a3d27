import type { Logger } from '../core/log.ts';
import { changeJob } from '../data/job.ts';
import { isFinal } from '../data/job-status.ts';
import { ConditionFailedError } from '../data/write-label.ts';
import { type Reconciler, reconcileJobs } from './reconcile.ts';
import { type JobRecord, unfinishedJobOf } from './subject.ts';

/** Seconds for which a comparison with Batch is good enough for whoever reads. */
const freshSeconds = 30;

/**
 * Compares an unfinished job with Batch if that was long ago. True when it did, so that the record is to be read
 * again. Batch being away is no reason to refuse a read.
 */
export async function reconcileWhenStale(
  reconciler: Reconciler,
  record: JobRecord,
  log: Logger,
): Promise<boolean> {
  const now = reconciler.now();
  if (isFinal(record.status) || Math.abs(now.getTime() - Date.parse(record.checked_at)) < freshSeconds * 1000)
    return false;
  const job = unfinishedJobOf(record);
  try {
    // Whoever notes the time compares; readers that come at the same moment do not all ask Batch.
    const since = { equals: { checked_at: record.checked_at } };
    await reconciler.records.write(changeJob(job.subject, { set: { checked_at: now.toISOString() } }, since));
    await reconcileJobs(reconciler, [job]);
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailedError))
      log.warn('reconcile-on-read', { error: error instanceof Error ? error.name : '' });
    return false;
  }
}
