import { parseJobRecord, unfinishedJobOf } from '../../jobs/subject.ts';
import type { HeldJob } from '../job/hold-job.ts';
import { retryFor } from '../job/retry-for.ts';

/** Seconds for which the read is retried while the table is unavailable. */
const patienceSeconds = 60;

/** Whether a user has cancelled the job or deleted its record. Reads the record again. */
export async function isCancelled({ records, record }: HeldJob): Promise<boolean> {
  const item = await retryFor(patienceSeconds, () => records.get(unfinishedJobOf(record).subject));
  return item === undefined || parseJobRecord(item).cancel_requested_at !== null;
}
