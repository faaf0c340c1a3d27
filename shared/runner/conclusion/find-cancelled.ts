import { parseJobRecord, unfinishedJobOf } from '../../jobs/subject.ts';
import type { HeldJob } from '../job/hold-job.ts';
import { retryFor } from '../job/retry-for.ts';

/** Seconds for which the read is retried while the table is unavailable. */
const patienceSeconds = 60;

/** A job that was cancelled: by whom, where that is known. */
export interface Cancelled {
  by: string | null;
}

/** Who has cancelled the job, or deleted its record; undefined where nobody has. Reads the record again. */
export async function findCancelled({ records, record }: HeldJob): Promise<Cancelled | undefined> {
  const item = await retryFor(patienceSeconds, () => records.get(unfinishedJobOf(record).subject));
  if (item === undefined) return { by: null };
  const { cancel_requested_at, cancelled_by } = parseJobRecord(item);
  return cancel_requested_at === null ? undefined : { by: cancelled_by };
}
