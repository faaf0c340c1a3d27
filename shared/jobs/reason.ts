import { constants } from 'node:os';
import type { BatchJob } from '../aws/batch.ts';

const waiting = {
  SUBMITTED: 'Handed to the job queue.',
  PENDING: 'Waits for another job to end first.',
  RUNNABLE: 'Waits for compute capacity.',
  STARTING: 'The container is starting.',
  RUNNING: null,
} as const;

/** `status_reason` of a job while its environment is built. */
export const buildingReason = 'The environment is being built.';

/** `status_reason` of a job while the build of its environment waits. */
export const reasonToBuildLater = ({ reason }: BatchJob): string =>
  `The build of the environment waits for compute capacity.${reason === undefined ? '' : ` Batch says: ${reason}`}`;

const isStarted = ({ startedAt }: BatchJob['attempts'][number]): boolean => startedAt !== undefined;

/** How the last attempt ended. */
function endOfLast({ attempts }: BatchJob): string {
  const last = attempts.at(-1);
  return last === undefined || isStarted(last) ? 'was lost' : 'could not be started';
}

/** `status_reason` of a job while Batch has it in this status; null where there is none. */
export function reasonToWait(job: BatchJob & { status: keyof typeof waiting }): string | null {
  const words = waiting[job.status];
  const retried = job.attempt > 1 ? `Attempt ${job.attempt}, because the one before ${endOfLast(job)}. ` : '';
  if (words === null) return retried === '' ? null : retried.trim();
  return `${retried}${words}${job.reason === undefined ? '' : ` Batch says: ${job.reason}`}`;
}

/** The name of the signal that an exit code of a shell (128 + number) stands for. */
function signalOf(exitCode: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0];
}

/** `status_reason` of a job that failed without a report of its supervisor. */
export function reasonOfLoss(job: BatchJob): string {
  const batchReason = job.reason === undefined ? '' : ` Batch says: ${job.reason}`;
  if (job.exitCode === undefined) {
    const tries = job.attempts.length;
    const tried = tries < 2 ? '' : ` It was tried ${tries} times, the most there are: start it anew.`;
    if (tries === 0) return `The job was ended before it ever ran.${batchReason}`;
    if (!job.attempts.some(isStarted)) return `The container could not be started.${tried}${batchReason}`;
    return `The job ended before it could report.${tried}${batchReason}`;
  }
  const signal = job.exitCode > 128 ? signalOf(job.exitCode) : undefined;
  if (signal === 'SIGKILL')
    return `The container was killed (exit code ${job.exitCode}), mostly for want of memory.${batchReason}`;
  const how = signal === undefined ? `exit code ${job.exitCode}` : `exit code ${job.exitCode}, ${signal}`;
  return `The container ended before it could report (${how}).${batchReason}`;
}
