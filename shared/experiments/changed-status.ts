import { ServiceError } from '../core/service-error.ts';
import type { Experiment } from '../data/experiments/experiment.ts';
import { type FinalStatus, isFinal, rankOf } from '../data/jobs/job-status.ts';

/** How an experiment can end. */
export const endings = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const satisfies readonly FinalStatus[];

/** What a client may say of an experiment that runs elsewhere; one that is yet to begin is CREATED. */
export type ClientStatus = 'CREATED' | 'RUNNING' | FinalStatus;

/**
 * What the status that a client gives changes in the record of an experiment that runs elsewhere.
 * @throws ServiceError `conflict` for a training, which its job ends
 */
export function changedStatus(
  experiment: Experiment,
  status: ClientStatus,
  now: Date,
): { set?: Partial<Experiment> } {
  if (experiment.kind !== 'logged') {
    throw new ServiceError('conflict', 'The status of a training is that of its job; POST …/cancel ends it.');
  }
  if (status === experiment.status) return {};
  const stopped_at = isFinal(status) ? now.toISOString() : null;
  return { set: { status, status_rank: rankOf(status), stopped_at } };
}
