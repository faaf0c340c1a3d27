import { filesOfJob } from '../../data/artifact.ts';
import { experimentPrefix } from '../../data/experiment.ts';
import { retryFor } from '../job/retry-for.ts';
import type { TrainingJob } from '../job/training-job.ts';
import { sweepLeftovers } from './sweep-leftovers.ts';

/** Seconds for which a store that is away is tried again: the end of the job waits for it. */
const patienceSeconds = 60;

/**
 * Removes what earlier attempts have uploaded and not recorded, where this one ends without having run its command,
 * which does so itself. Never throws: what is left is removed with the experiment.
 */
export async function sweepEarlier({ record, lease, records, objects, log }: TrainingJob): Promise<void> {
  if (lease.number === 1) return;
  const { project_id, experiment_id: job_id } = record;
  const prefix = experimentPrefix(project_id, job_id);
  try {
    const named = await retryFor(patienceSeconds, () => filesOfJob(records, job_id));
    await sweepLeftovers({ records, objects, job_id, lease, prefix, patienceSeconds }, named);
  } catch (error) {
    log.warn('files-left', { experiment_id: job_id, error: error instanceof Error ? error.name : '' });
  }
}
