import { errorName } from '../core/error-text.ts';
import type { Logger } from '../core/log.ts';
import { changeJob } from '../data/jobs/job.ts';
import { isFinal } from '../data/jobs/job-status.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import { type JobRecord, parseJobRecord, unfinishedJobOf } from './job-record.ts';
import { describeJobs, type Observer, observeRecord } from './observation.ts';

/**
 * Compare an unfinished job with Batch for its reader, unless a recent comparison exists. A reader learns only; jobs are
 * submitted and terminated by who asks for it, and by the reconciler. Never throw: reads must succeed even while Batch is
 * unavailable.
 * @returns whether the job was compared; if so, the caller must read the record again
 */
export async function observeWhenStale(observer: Observer, record: JobRecord, log: Logger): Promise<boolean> {
  const now = observer.now();
  // Batch does not know jobs that wait in line, nor experiments that a client records.
  if (record.line_ticket !== null || record.kind === 'logged') return false;
  if (isFinal(record.status) || Math.abs(now.getTime() - Date.parse(record.checked_at)) < freshSeconds * 1000)
    return false;
  const { subject } = unfinishedJobOf(record);
  try {
    // If several readers come at once, only the reader that writes the time asks Batch.
    const since = { equals: { checked_at: record.checked_at } };
    await observer.records.write(changeJob(subject, { set: { checked_at: now.toISOString() } }, since));
    const item = await observer.records.get(subject);
    if (item === undefined) return true;
    await observeRecord(observer, parseJobRecord(item), await describeJobs(observer.batch, [item]));
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) log.warn('observe-on-read', { error: errorName(error) });
    return false;
  }
}

/** Maximum age in seconds of a comparison with Batch that a read accepts. */
const freshSeconds = 30;
