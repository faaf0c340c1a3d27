import type { Capacity } from '../../core/capacity/capacity.ts';
import type { Settings } from '../../core/settings.ts';
import type { JobRecord } from '../job-record.ts';

/** Return the capacity that a job may use: what is asked for, else that of the deployment, if there is Spot for it. */
export const possibleCapacity = (
  requested: Capacity | undefined,
  job: Compute,
  settings: Pick<Settings, 'spotQueues' | 'capacity'>,
): Capacity => (spotQueueOf(job, settings) === undefined ? 'on-demand' : (requested ?? settings.capacity));

/** Return why a job cannot have the capacity that a request asks for. */
export function capacityFault(
  requested: Capacity | undefined,
  job: Compute,
  settings: Pick<Settings, 'spotQueues' | 'jobsRunAs'>,
): string | undefined {
  if (requested === undefined || requested === 'on-demand' || spotQueueOf(job, settings) !== undefined)
    return undefined;
  if (job.kind === 'train-remote')
    return 'must be on-demand for a cluster, whose nodes start and end together: there is no Spot for it';
  if (settings.jobsRunAs === 'containers')
    return `must be on-demand: this deployment has no Spot ${job.gpus > 0 ? 'with GPUs' : 'queue'}`;
  // A project file of a deployment is good on one machine, too.
  return requested === 'spot'
    ? 'must be on-demand or spot-then-on-demand: this machine has no Spot'
    : undefined;
}

/** Return the queue of Spot for a job. Return undefined if there is none: nodes of a cluster are on demand. */
export const spotQueueOf = (
  { kind, gpus }: Compute,
  { spotQueues }: Pick<Settings, 'spotQueues'>,
): string | undefined => (kind === 'train-remote' ? undefined : gpus > 0 ? spotQueues.gpu : spotQueues.train);

type Compute = Pick<JobRecord, 'kind' | 'gpus'>;
