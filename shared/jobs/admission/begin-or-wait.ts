import type { Limits } from '../../core/settings.ts';
import { countInProject, type UnfinishedJob } from '../../data/jobs/job.ts';
import {
  changedLine,
  findLine,
  isAnyReady,
  joinLine,
  lineOf,
  nextTicket,
} from '../../data/jobs/waiting-line.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { TableWriter, Write } from '../../data/table/table.ts';
import { TableBusyError } from '../../data/table/table-busy.ts';
import type { ConditionFailedError } from '../../data/table/write-label.ts';
import { beginJob, JobLimitError, type PlaceLimits } from './begin-job.ts';

/** Requests of one user that may join a line at the same moment; each lets one other wait. */
const joinsAtOnce = 50;

/** Fields of the record of a job that waits. */
export const waitingFields = (line_ticket: number) => ({
  line_ticket,
  status_reason: 'Waits in line for a place.',
});

/** Put a job at the end of its line. @throws JobLimitError where as many wait as may */
function waitInLine(
  records: TableWriter<'records'>,
  job: UnfinishedJob,
  waitingJobs: number,
  writesOf: (line_ticket: number) => readonly Write[],
  now: Date,
): Promise<void> {
  const join = async () => {
    const line = await findLine(records, lineOf(job));
    if (line !== undefined && line.waiting >= waitingJobs) throw new JobLimitError('waitingJobs');
    const joining = joinLine(job, line, now);
    await records.write(...writesOf(nextTicket(line)), ...joining, ...countInProject(job));
  };
  return retryOnConflict(join, {
    isConflict: (error: ConditionFailedError) => error.isOnly(changedLine),
    calls: joinsAtOnce,
    giveUp: (cause) => {
      throw new TableBusyError('the line of the user changed during every attempt', { cause });
    },
  });
}

/**
 * Begin a job, or let it wait in line where a limit leaves no place or others wait. After that, who waits has to be
 * started (`startWaiting`): a place may have become free before the job stood in line.
 * @param writesOf the writes that record the job; with its ticket where it waits
 * @returns whether it waits
 * @throws JobLimitError `waitingJobs` where as many wait as may
 * @throws ConditionFailedError where a condition of the writes does not hold
 */
export async function beginOrWait(
  records: TableWriter<'records'>,
  job: UnfinishedJob,
  limits: PlaceLimits & Pick<Limits, 'waitingJobs'>,
  writesOf: (line_ticket: number | null) => readonly Write[],
  now: Date,
): Promise<boolean> {
  // Only read, not checked by the transaction: every job would check the same item.
  const othersWait = await isAnyReady(records);
  if (!othersWait) {
    try {
      await beginJob(records, job, limits, writesOf(null));
      return false;
    } catch (error) {
      if (!(error instanceof JobLimitError)) throw error;
    }
  }
  await waitInLine(records, job, limits.waitingJobs, writesOf, now);
  return true;
}
