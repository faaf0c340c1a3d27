/** Maximum number of attempts of a job, including attempts that never started. */
export const attempts = 3;

/**
 * Retry rules of AWS Batch and of the local Batch server. Batch allows five rules; the first match decides. Do not
 * retry a container that exited by itself or ran out of memory. Retry every failure caused by AWS: a lost host, a
 * Spot interruption, a container that does not start (`CannotPullContainerError`, `DockerTimeoutError`,
 * `ResourceInitializationError`, no network interface), or an agent that gives up. Batch never retries a job that
 * was cancelled, terminated, or timed out.
 */
export const evaluateOnExit = [
  { action: 'EXIT', onStatusReason: 'Essential container in task exited*' },
  { action: 'EXIT', onReason: 'OutOfMemoryError*' },
  { action: 'RETRY', onStatusReason: 'Host EC2*' },
  { action: 'RETRY', onStatusReason: 'Task failed to start*' },
  { action: 'RETRY', onReason: '*' },
] as const;
