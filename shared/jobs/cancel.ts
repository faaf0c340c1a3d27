import type { BatchControl } from '../aws/batch.ts';
import type { Settings } from '../core/settings.ts';
import { changeJob } from '../data/job.ts';
import { isFinal, rankOf } from '../data/job-status.ts';
import type { TableWriter } from '../data/table.ts';
import { ConditionFailedError } from '../data/write-label.ts';
import { concludeJob } from './conclude.ts';
import { purgeLeftovers } from './leftovers.ts';
import { placeOf } from './place.ts';
import { batchNameOf, buildNameOf, isStrategy, type JobRecord, unfinishedJobOf } from './subject.ts';

const reason = 'Cancelled by a user.';

/** Ids of every Batch job of a record, also of those whose submission it had no time to note. */
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
 * Cancels a job in whatever state it is. The wish is written down first, so that it is carried out by whoever sees it
 * next, should this process die. A job that no container runs yet is over at once; a running one stops its command
 * itself and has some seconds to save. False when the job had ended already.
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
    const conclusion = { status: 'CANCELLED', reason: 'Cancelled before it started.' } as const;
    // An attempt before this one, or the build of its environment, may have left something.
    await concludeJob(records, record, conclusion, now, ...purgeLeftovers(record, now));
  }
  return true;
}
