/** Most attempts of a job, those that never started among them. */
export const attempts = 3;

/**
 * Which failed attempts AWS Batch repeats, and the Batch of one machine. There may be five rules; the first that matches
 * decides. A container that ended by itself is not repeated, nor one that ran out of memory. Everything else is the work
 * of AWS: the host is lost, Spot takes it back, the container does not start (`CannotPullContainerError`,
 * `DockerTimeoutError`, `ResourceInitializationError`, no network interface), the agent gives up. Batch never repeats a
 * job that was cancelled or terminated, or that passed its timeout.
 */
export const evaluateOnExit = [
  { action: 'EXIT', onStatusReason: 'Essential container in task exited*' },
  { action: 'EXIT', onReason: 'OutOfMemoryError*' },
  { action: 'RETRY', onStatusReason: 'Host EC2*' },
  { action: 'RETRY', onStatusReason: 'Task failed to start*' },
  { action: 'RETRY', onReason: '*' },
] as const;
