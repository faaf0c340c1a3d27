import { filesOfJob } from '../../data/experiments/artifact.ts';
import { experimentPrefix } from '../../data/experiments/experiment.ts';
import { retryFor } from '../job/retry-for.ts';
import type { TrainingJob } from '../job/training-job.ts';
import { sweepLeftovers } from './sweep-leftovers.ts';

/** Seconds for which a store that is away is tried again: the end of the job waits for it. */
const patienceSeconds = 60;

/**
 * Remove the objects that earlier attempts uploaded and did not record, where this attempt ends before its command has
 * run; otherwise the end of the command does it. Never throws: objects that are left are removed with the experiment.
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
