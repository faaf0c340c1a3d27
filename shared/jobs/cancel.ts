import type { BatchControl } from '../aws/batch.ts';
import type { Settings } from '../core/settings.ts';
import { changeJob } from '../data/jobs/job.ts';
import { isFinal, rankOf } from '../data/jobs/job-status.ts';
import type { TableWriter } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import { cancelledReason } from './cancelled-reason.ts';
import { concludeJob } from './conclude.ts';
import { purgeLeftovers } from './observation/leftovers.ts';
import { queueOf } from './queue-of.ts';
import {
  batchNameOf,
  buildNameOf,
  isStrategy,
  type JobRecord,
  parseJobRecord,
  unfinishedJobOf,
} from './subject.ts';

/** Who cancels a job, and when. */
export interface Cancelling {
  /** Name of a user; null where it is nobody's wish, such as that its project is deleted. */
  by: string | null;
  now: Date;
}

/** The conclusion of a job that had no container yet. */
export const unstarted = (by: string | null) => ({
  status: 'CANCELLED' as const,
  reason: cancelledReason(by, 'before it started'),
});

/** Ids of all Batch jobs of a record, including those whose submission was not noted yet. */
async function batchJobsOf(batch: BatchControl, settings: Settings, record: JobRecord): Promise<string[]> {
  const noted = [record.depends_on, record.batch_job_id].filter((id) => id !== null);
  if (record.status !== 'CREATED') return noted;
  const found = await Promise.all([
    ...(isStrategy(record) ? [] : [batch.findByName(settings.train.queue, buildNameOf(record))]),
    batch.findByName(queueOf(record, settings).queue, batchNameOf(record)),
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
  { by: asking, now }: Cancelling,
): Promise<boolean> {
  if (isFinal(record.status)) return false;
  // Who asks again changes nothing.
  const by = record.cancelled_by ?? asking;
  const { subject } = unfinishedJobOf(record);
  if (record.line_ticket !== null) {
    if (await concludeJob(records, record, unstarted(by), now)) return true;
    // It has just left its line.
    const item = await records.get(subject);
    return item !== undefined && cancelJob(records, batch, settings, parseJobRecord(item), { by, now });
  }
  try {
    await records.write(
      changeJob(subject, {
        set: { cancel_requested_at: now.toISOString(), cancelled_by: by, status_reason: 'Cancelling.' },
      }),
    );
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
  for (const id of await batchJobsOf(batch, settings, record)) await batch.terminate(id, cancelledReason(by));
  if (record.status_rank < rankOf('STARTING')) {
    // An earlier attempt, or the build of the environment, may have left objects.
    await concludeJob(records, record, unstarted(by), now, ...purgeLeftovers(record, now));
  }
  return true;
}
