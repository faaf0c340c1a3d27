import { changeJob, endWaiting } from '../../data/jobs/job.ts';
import { changedLine, findLine, leaveLine, lineOf } from '../../data/jobs/waiting-line.ts';
import type { Change } from '../../data/table/condition.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { TableWriter, Write } from '../../data/table/table.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import { type JobRecord, unfinishedJobOf } from '../subject.ts';

/**
 * End a job that waits, in one transaction: its record becomes final, and it leaves its line.
 * @param set the attributes of the record at its end
 * @returns false where it has ended or left the line already
 */
export async function endInLine(
  records: TableWriter<'records'>,
  record: JobRecord,
  line_ticket: number,
  set: Change['set'],
  further: readonly Write[],
): Promise<boolean> {
  const job = unfinishedJobOf(record);
  const end = async (): Promise<boolean> => {
    const line = await findLine(records, lineOf(job));
    const leaving = line === undefined ? [] : leaveLine(line, line_ticket);
    try {
      const change = changeJob(
        job.subject,
        { set: { ...set, line_ticket: null } },
        { equals: { line_ticket } },
      );
      await records.write(change, ...endWaiting(job), ...leaving, ...further);
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError && !error.isOnly(changedLine)) return false;
      throw error;
    }
  };
  return retryOnConflict(end);
}
