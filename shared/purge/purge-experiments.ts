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
import { startWaiting } from '../jobs/line.ts';
import { removeItems } from './run-purge.ts';

/**
 * Removes a deleted project's experiments with all that their jobs wrote, ending what still runs first. True once
 * none is left; false when time ran out or a container has not ended yet. Each experiment's record goes last of what
 * is its own, so that a crash leaves it to be found again.
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
  /** Where the key of secret variables is, for trainings that start next. */
  keys: TableReader<'accounts'>;
  now(): Date;
}

/**
 * Ends the jobs of all experiments of a project, before any is waited for: they get the time that a container may take
 * together, not one after the other. Then starts the jobs of others that waited for their places. True once Batch says that none of their containers can still write.
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
      // The job of a record that cannot be read: nothing else would end it.
      const isLeft = experiments.some((one) => isFinal(one.status) && one.batch_job_id === id);
      if (isLeft && rankOf(status) < finalRank) await purger.batch.terminate(id, deletedReason);
    }
    allEnded &&= known.every(({ status }) => rankOf(status) === finalRank);
    after = page.next;
  } while (after !== undefined);
  for (const user_id of users) await startWaiting(purger, user_id);
  return allEnded;
}

const pageSize = 25;

/** Ends the jobs of these experiments, and notes their `users`; answers the ids of all their Batch jobs. */
async function endJobs(
  { records, batch, settings, now }: Purger,
  experiments: readonly Experiment[],
  users: Set<string>,
): Promise<string[]> {
  for (const experiment of experiments) {
    // What a client records has no job.
    if (isFinal(experiment.status) || experiment.kind === 'logged') continue;
    await cancelJob(records, batch, settings, experiment, { by: null, now: now() });
    users.add(experiment.user_id);
    // A container that still runs finds its lease worthless and stops.
    await concludeJob(records, experiment, { status: 'CANCELLED', reason: deletedReason }, now());
  }
  return experiments
    .flatMap(({ batch_job_id, depends_on }) => [batch_job_id, depends_on])
    .filter((id) => id !== null);
}

const deletedReason = 'Its project was deleted.';
