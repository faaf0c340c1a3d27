import type { BatchJob } from '../aws/batch.ts';
import { findLease } from '../data/jobs/lease.ts';
import type { TableReader } from '../data/table/table.ts';
import { type JobRecord, jobIdOf } from './job-record.ts';

/*
 * A lost host is not a failed program: the job goes on from its checkpoints. Batch makes the attempts of a submission.
 * If they are used up and the job has got on meanwhile, another submission follows.
 */

/**
 * Number of attempts in a row that a job may lose without progress: its host was lost, or its container did not start.
 * Also the highest number of attempts that Batch makes for one submission.
 */
export const maxLosses = 10;

/** Number of attempts of a job in all, so its record stays small. Spot takes about this many in a week. */
export const maxAttempts = 500;

/** Exit codes of the container. They tell Batch whether the job succeeded; the record has the reason. */
export const exitCodes = { succeeded: 0, failed: 1, interrupted: 143 } as const;

const exited = 'Essential container in task exited';

/**
 * Retry rules of AWS Batch and of the local Batch server. Batch allows five rules; the first match decides. A job whose
 * supervisor was told to stop ends with a code of its own: AWS reclaims the host (Spot warns two minutes before, and the
 * reason is then that of a container that exited). Do not retry a container that exited otherwise or ran out of memory.
 * Retry every failure caused by AWS: a lost host, a container that does not start (`CannotPullContainerError`,
 * `DockerTimeoutError`, `ResourceInitializationError`, no network interface), or an agent that gives up. Batch never
 * retries a job that was cancelled, terminated, or timed out.
 */
export const retryRules = [
  { action: 'RETRY', onExitCode: String(exitCodes.interrupted) },
  { action: 'EXIT', onStatusReason: `${exited}*` },
  { action: 'EXIT', onReason: 'OutOfMemoryError*' },
  { action: 'RETRY', onStatusReason: '*' },
  { action: 'RETRY', onReason: '*' },
] as const;

/** Whether Batch would have made another attempt by {@link retryRules}, had it not used up all of this submission. */
export function isHostLost(job: BatchJob): boolean {
  const last = job.attempts.at(-1);
  if (job.status !== 'FAILED' || last === undefined || job.isTerminated === true) return false;
  if (job.attempts.length < (job.maxAttempts ?? maxLosses)) return false;
  const reason = `${job.reason ?? ''} ${last.reason ?? ''}`;
  if (reason.includes('OutOfMemoryError') || reason.includes(timedOut)) return false;
  if (last.exitCode === exitCodes.interrupted) return true;
  // A lost host may kill its container. An exit code without a reason is that of the program.
  return last.reason === undefined ? last.exitCode === undefined : !last.reason.startsWith(exited);
}

/** Status reason of a job that Batch ended at the timeout of an attempt. */
const timedOut = 'Job attempt duration exceeded timeout';

/** Return how many attempts, of so many in all, a job has lost in a row since it last got on. */
export async function lossesInRow(
  records: TableReader<'records'>,
  record: JobRecord,
  attempts: number,
): Promise<number> {
  const lease = await findLease(records, jobIdOf(record), 0);
  return attempts - (lease?.progress?.attempt ?? 0);
}
