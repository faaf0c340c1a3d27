import { releaseCheckpoints } from '../data/experiments/continuation.ts';
import { changeJob, endJob } from '../data/jobs/job.ts';
import { type FinalStatus, finalRank } from '../data/jobs/job-status.ts';
import type { Change } from '../data/table/condition.ts';
import type { TableWriter, Write } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import { endInLine } from './admission/leave-line.ts';
import { isStrategy, type JobRecord, unfinishedJobOf } from './subject.ts';

/** How a job ends. */
export interface Conclusion {
  status: FinalStatus;
  /** `status_reason`: why, for the user; null for a success. */
  reason: string | null;
  exitCode?: number | null;
  signal?: string | null;
  /** Further attributes of the record. */
  change?: Change['set'];
}

/** What the record of a job says once it has ended. */
export const finalFields = (conclusion: Conclusion, now: Date) => ({
  status: conclusion.status,
  status_rank: finalRank,
  status_reason: conclusion.reason,
  stopped_at: now.toISOString(),
  exit_code: conclusion.exitCode ?? null,
  signal: conclusion.signal ?? null,
  ...conclusion.change,
});

/**
 * End a job in one transaction: its record becomes final, it leaves the list of unfinished jobs, and its reservations are
 * released. One that waits leaves its line instead. `further` are writes that go with it, such as the check of the lease.
 * @returns false where the job had ended already, or a condition of `further` does not hold
 * @example
 * const reason = 'The job queue no longer knows this job.';
 * await concludeJob(records, record, { status: 'FAILED', reason }, now, ...purgeLeftovers(record, now));
 */
export async function concludeJob(
  records: TableWriter<'records'>,
  record: JobRecord,
  conclusion: Conclusion,
  now: Date,
  ...further: readonly Write[]
): Promise<boolean> {
  const job = unfinishedJobOf(record);
  const set = finalFields(conclusion, now);
  const released = isStrategy(record) ? [] : releaseCheckpoints(record);
  if (record.line_ticket !== null)
    return endInLine(records, record, record.line_ticket, set, [...released, ...further]);
  try {
    await records.write(changeJob(job.subject, { set }), ...endJob(job), ...released, ...further);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}
