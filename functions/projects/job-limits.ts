import type { ConditionFailed } from '../../shared/data/table.ts';
import { badRequest, type ParameterFault, Problem } from '../../shared/endpoint/problem.ts';
import type { Limits } from '../../shared/endpoint/settings.ts';

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
 * The 409 for a job that would pass a limit of its user or of the deployment at present; undefined for other
 * refusals. `first` is the position of the writes that begin the job (`beginJob`) among those that were refused.
 */
export function limitReached(
  { failed: [position] }: ConditionFailed,
  first: number,
  { unfinishedJobs, vcpus }: Limits,
): Problem | undefined {
  if (position === first + 1) {
    return new Problem(
      'conflict',
      `You have ${unfinishedJobs} unfinished jobs, the most this deployment allows; wait for one or cancel one.`,
    );
  }
  if (position === first + 2) {
    return new Problem(
      'conflict',
      `All unfinished jobs together may reserve ${vcpus} vCPUs in this deployment; wait for one to end or ask for fewer.`,
    );
  }
  return undefined;
}
