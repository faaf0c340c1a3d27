import type { Logger } from '../../core/log.ts';
import { changeJob } from '../../data/jobs/job.ts';
import { isFinal } from '../../data/jobs/job-status.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import { startWaiting } from '../admission/start-waiting.ts';
import { type JobRecord, unfinishedJobOf } from '../subject.ts';
import { type Reconciler, reconcileJobs } from './reconcile.ts';

/** Seconds for which a comparison with Batch is recent enough for a read. */
const freshSeconds = 30;

/**
 * Compare an unfinished job with Batch, unless that was done recently. Never throws: a read is answered also while Batch
 * is unavailable.
 * @returns whether it was compared, and the record must be read again
 */
export async function reconcileWhenStale(
  reconciler: Reconciler,
  record: JobRecord,
  log: Logger,
): Promise<boolean> {
  const now = reconciler.now();
  // Batch knows nothing of a job that waits in line, nor of what a client records.
  if (record.line_ticket !== null || record.kind === 'logged') return false;
  if (isFinal(record.status) || Math.abs(now.getTime() - Date.parse(record.checked_at)) < freshSeconds * 1000)
    return false;
  const job = unfinishedJobOf(record);
  try {
    // Of several readers at the same moment only the one that notes the time asks Batch.
    const since = { equals: { checked_at: record.checked_at } };
    await reconciler.records.write(changeJob(job.subject, { set: { checked_at: now.toISOString() } }, since));
    await reconcileJobs(reconciler, [job]);
    await startWaiting(reconciler, job.user_id, log);
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailedError))
      log.warn('reconcile-on-read', { error: error instanceof Error ? error.name : '' });
    return false;
  }
}
