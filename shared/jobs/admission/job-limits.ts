import { badRequest, faultsOf, type ParameterFault, ServiceError } from '../../core/service-error.ts';
import type { Limits } from '../../core/settings.ts';
import { JobLimitError } from './begin-job.ts';
import type { JobSize } from './job-size.ts';

/** Throws a 400 for a job that this deployment never takes. `vcpus` is that of all nodes, `timeout` in seconds. */
export function checkLimits(
  { timeout, vcpus }: { timeout: number | undefined; vcpus: number },
  limits: Limits,
): void {
  const faults: ParameterFault[] = [];
  const fault = (name: string, message: string) => faults.push({ in: 'query', name, message });
  if (timeout !== undefined && timeout > limits.jobSeconds)
    fault('timeout', `must be at most ${limits.jobSeconds} s in this deployment`);
  if (vcpus > limits.vcpus)
    fault('vcpus', `must be at most ${limits.vcpus} over all nodes in this deployment`);
  if (faults.length > 0) throw badRequest(faults);
}

/**
 * The size of each of `nodes` that `complete` makes of a request. Throws a 400 for all that is wrong with it, and with
 * the job's `timeout` in seconds.
 */
export function allowedSize(
  complete: () => JobSize,
  { timeout, nodes }: { timeout: number | undefined; nodes: number },
  limits: Limits,
): JobSize {
  const completed: JobSize[] = [];
  const faults = faultsOf(() => completed.push(complete()));
  const [size] = completed;
  const vcpus = (size?.vcpus ?? 0) * nodes;
  const all = [...faults, ...faultsOf(() => checkLimits({ timeout, vcpus }, limits))];
  if (size === undefined || all.length > 0) throw badRequest(all);
  return size;
}

/** The 409 for a job that finds the line of its user full; any other error as it is. */
export function lineIsFull(error: unknown, { waitingJobs }: Limits): unknown {
  if (!(error instanceof JobLimitError)) return error;
  return new ServiceError(
    'conflict',
    `${waitingJobs} of your jobs wait in line, the most this deployment allows; wait for one to start or cancel one.`,
  );
}
