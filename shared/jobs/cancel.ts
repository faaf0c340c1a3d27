import type { BatchControl } from '../aws/batch.ts';
import type { Settings } from '../core/settings.ts';
import { changeJob } from '../data/job.ts';
import { isFinal, rankOf } from '../data/job-status.ts';
import type { TableWriter } from '../data/table.ts';
import { ConditionFailedError } from '../data/write-label.ts';
import { concludeJob } from './conclude.ts';
import { purgeLeftovers } from './leftovers.ts';
import { placeOf } from './place.ts';
import {
  batchNameOf,
  buildNameOf,
  isStrategy,
  type JobRecord,
  parseJobRecord,
  unfinishedJobOf,
} from './subject.ts';

const reason = 'Cancelled by a user.';
export const unstarted = { status: 'CANCELLED', reason: 'Cancelled before it started.' } as const;

/** Ids of all Batch jobs of a record, including those whose submission was not noted yet. */
async function batchJobsOf(batch: BatchControl, settings: Settings, record: JobRecord): Promise<string[]> {
  const noted = [record.depends_on, record.batch_job_id].filter((id) => id !== null);
  if (record.status !== 'CREATED') return noted;
  const found = await Promise.all([
    ...(isStrategy(record) ? [] : [batch.findByName(settings.train.queue, buildNameOf(record))]),
    batch.findByName(placeOf(record, settings).queue, batchNameOf(record)),
  ]);
  return [...new Set([...noted, ...found.filter((id) => id !== undefined)])];
}

/**
 * Cancel a job, whatever its status. The request is recorded first, so that the reconciler completes it if this process
 * dies. A job that has no container yet ends at once; a running one stops its command, which has some seconds to save.
 * @returns false where the job had ended already
 */
export async function cancelJob(
  records: TableWriter<'records'>,
  batch: BatchControl,
  settings: Settings,
  record: JobRecord,
  now: Date,
): Promise<boolean> {
  if (isFinal(record.status)) return false;
  const { subject } = unfinishedJobOf(record);
  if (record.line_ticket !== null) {
    if (await concludeJob(records, record, unstarted, now)) return true;
    // It has just left its line.
    const item = await records.get(subject);
    return item !== undefined && cancelJob(records, batch, settings, parseJobRecord(item), now);
  }
  try {
    await records.write(
      changeJob(subject, { set: { cancel_requested_at: now.toISOString(), status_reason: 'Cancelling.' } }),
    );
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
  for (const id of await batchJobsOf(batch, settings, record)) await batch.terminate(id, reason);
  if (record.status_rank < rankOf('STARTING')) {
    // An earlier attempt, or the build of the environment, may have left objects.
    await concludeJob(records, record, unstarted, now, ...purgeLeftovers(record, now));
  }
  return true;
}
