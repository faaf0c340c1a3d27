import type { BatchControl } from '../aws/batch.ts';
import type { Deadline } from '../core/deadline.ts';
import type { Settings } from '../core/settings.ts';
import {
  type Experiment,
  experimentKey,
  listStoredExperiments,
  salvageExperiment,
} from '../data/experiments/experiment.ts';
import { unrank } from '../data/experiments/ranking.ts';
import { jobPartition } from '../data/jobs/job.ts';
import { finalRank, isFinal, rankOf } from '../data/jobs/job-status.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import { cancelJob } from '../jobs/cancellation.ts';
import { concludeJob } from '../jobs/conclusion.ts';
import { startWaiting } from '../jobs/waiting-queue.ts';
import { removeItems } from './run-purge.ts';

/**
 * Remove the experiments of a deleted project with everything that their jobs wrote, and end running jobs first.
 * Return true once none is left; false if time ran out or a container has not ended yet. The record of each
 * experiment is removed last, so after a crash the next pass finds it again.
 */
export async function purgeExperiments(
  purger: Purger,
  project_id: string,
  hasTime: Deadline,
): Promise<boolean> {
  const { records } = purger;
  if (!(await endAllJobs(purger, project_id, hasTime))) return false;
  for (;;) {
    if (!hasTime()) return false;
    const { items } = await listStoredExperiments(records, project_id, { limit: pageSize });
    if (items.length === 0) return true;
    for (const experiment of items.map(salvageExperiment)) {
      const { experiment_id } = experiment;
      const pass = await removeItems(records, { pk: jobPartition(experiment_id) }, hasTime);
      if (pass === 'stopped') return false;
      await records.write(...unrank(experiment), { delete: experimentKey(project_id, experiment_id) });
    }
  }
}

interface Purger {
  records: TableWriter<'records'>;
  batch: BatchControl;
  settings: Settings;
  /** Table with the key of secret variables, for trainings that start next. */
  keys: TableReader<'accounts'>;
  now(): Date;
}

/**
 * End the jobs of all experiments of a project before waiting for any, so the containers stop in parallel. Then
 * start the waiting jobs of other experiments. Return true once Batch reports that no container can still write.
 */
async function endAllJobs(purger: Purger, project_id: string, hasTime: Deadline): Promise<boolean> {
  const users = new Set<string>();
  let allEnded = true;
  let after: string | undefined;
  do {
    if (!hasTime()) return false;
    const page = await listStoredExperiments(purger.records, project_id, { limit: pageSize, after });
    const experiments = page.items.map(salvageExperiment);
    const known = await purger.batch.describe(await endJobs(purger, experiments, users));
    for (const { id, status } of known) {
      // The job of an unreadable record: no other code would end it.
      const isLeft = experiments.some(
        (experiment) => isFinal(experiment.status) && experiment.batch_job_id === id,
      );
      if (isLeft && rankOf(status) < finalRank) await purger.batch.terminate(id, deletedReason);
    }
    allEnded &&= known.every(({ status }) => rankOf(status) === finalRank);
    after = page.next;
  } while (after !== undefined);
  for (const user_id of users) await startWaiting(purger, user_id);
  return allEnded;
}

const pageSize = 25;

/** End the jobs of these experiments, and add their owners to `users`. Return the ids of all their Batch jobs. */
async function endJobs(
  { records, batch, settings, now }: Purger,
  experiments: readonly Experiment[],
  users: Set<string>,
): Promise<string[]> {
  for (const experiment of experiments) {
    // An experiment that a client records has no job.
    if (isFinal(experiment.status) || experiment.kind === 'logged') continue;
    await cancelJob(records, batch, settings, experiment, { by: null, now: now() });
    users.add(experiment.user_id);
    // A container that still runs finds its lease revoked and stops.
    await concludeJob(records, experiment, { status: 'CANCELLED', reason: deletedReason }, now());
  }
  return experiments
    .flatMap(({ batch_job_id, depends_on }) => [batch_job_id, depends_on])
    .filter((id) => id !== null);
}

const deletedReason = 'Its project was deleted.';
