import type { Change } from '../data/condition.ts';
import { changeJob, endJob } from '../data/job.ts';
import { type FinalStatus, finalRank } from '../data/job-status.ts';
import type { TableWriter, Write } from '../data/table.ts';
import { ConditionFailedError } from '../data/write-label.ts';
import { type JobRecord, unfinishedJobOf } from './subject.ts';

export interface Conclusion {
  status: FinalStatus;
  /** Why, in a person's words; null for a plain success. */
  reason: string | null;
  exitCode?: number | null;
  signal?: string | null;
  change?: Change['set'];
}

/**
 * Ends a job: its record becomes final, it is no longer unfinished, and what it had reserved is free, all in one
 * step. `with` adds further writes, such as the proof of holding the lease. False when the job had ended already, or
 * one of those further writes was refused.
 */
export async function concludeJob(
  records: TableWriter<'records'>,
  record: JobRecord,
  conclusion: Conclusion,
  now: Date,
  ...further: readonly Write[]
): Promise<boolean> {
  const job = unfinishedJobOf(record);
  const set = {
    status: conclusion.status,
    status_rank: finalRank,
    status_reason: conclusion.reason,
    stopped_at: now.toISOString(),
    exit_code: conclusion.exitCode ?? null,
    signal: conclusion.signal ?? null,
    ...conclusion.change,
  };
  try {
    await records.write(changeJob(job.subject, { set }), ...endJob(job), ...further);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}
