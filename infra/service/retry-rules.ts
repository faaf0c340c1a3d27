import { exitCodes } from '../../shared/runner/job/batch-container.ts';

/** Maximum number of attempts of a job, including attempts that never started. */
export const attempts = 3;

/**
 * Retry rules of AWS Batch and of the local Batch server. Batch allows five rules; the first match decides. A job whose
 * supervisor was told to stop ends with a code of its own: AWS reclaims the host (Spot warns two minutes before, and the
 * reason is then that of a container that exited). Do not retry a container that exited otherwise or ran out of memory.
 * Retry every failure caused by AWS: a lost host, a container that does not start (`CannotPullContainerError`,
 * `DockerTimeoutError`, `ResourceInitializationError`, no network interface), or an agent that gives up. Batch never
 * retries a job that was cancelled, terminated, or timed out.
 */
export const evaluateOnExit = [
  { action: 'RETRY', onExitCode: String(exitCodes.interrupted) },
  { action: 'EXIT', onStatusReason: 'Essential container in task exited*' },
  { action: 'EXIT', onReason: 'OutOfMemoryError*' },
  { action: 'RETRY', onStatusReason: '*' },
  { action: 'RETRY', onReason: '*' },
] as const;
