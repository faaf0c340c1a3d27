import type { Deadline } from '../../core/deadline.ts';
import {
  findLine,
  frontOf,
  leaveLine,
  linesOf,
  type WaitingJob,
  type WaitingLine,
} from '../../data/jobs/waiting-line.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { tryWrite } from '../../data/table/try-write.ts';
import { type Conclusion, concludeJob } from '../conclude.ts';
import { parseJobRecord } from '../subject.ts';

/** End the job at the front of a line, which never started. One whose record is gone only leaves the line. */
export async function endFront(
  records: TableWriter<'records'>,
  line: WaitingLine,
  { job, ticket }: WaitingJob,
  conclusion: Conclusion,
  now: Date,
): Promise<void> {
  const item = await records.get(job.subject);
  if (item !== undefined && (await concludeJob(records, parseJobRecord(item), conclusion, now))) return;
  await tryWrite(records.write(...leaveLine(line, ticket)));
}

/**
 * Cancel the jobs of a deleted user that wait for a place; those that have one go on.
 * @returns whether none is left; false when time ran out before
 */
export async function cancelWaitingOf(
  records: TableWriter<'records'>,
  user_id: string,
  hasTime: Deadline,
  now: Date,
): Promise<boolean> {
  const conclusion = { status: 'CANCELLED', reason: 'Its user was deleted before it started.' } as const;
  for (const line_id of linesOf(user_id)) {
    for (;;) {
      if (!hasTime()) return false;
      const [line, front] = await Promise.all([findLine(records, line_id), frontOf(records, line_id)]);
      if (line === undefined || front === undefined) break;
      await endFront(records, line, front, conclusion, now);
    }
  }
  return true;
}
