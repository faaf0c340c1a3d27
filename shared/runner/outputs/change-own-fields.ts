import { errorText } from '../../core/error-text.ts';
import { type Experiment, experimentKey, requireExperiment } from '../../data/experiments/experiment.ts';
import { findFields, putFields } from '../../data/experiments/tracking.ts';
import { changeJob } from '../../data/jobs/job.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import { type ChangeFields, noFields } from '../../experiments/change-fields.ts';
import { requireRoom } from '../../experiments/field-rules.ts';
import { leaseCheck } from '../job/hold-job.ts';
import type { TrainingJob } from '../job/training-job.ts';

/**
 * Change the fields of a job's own experiment, under its lease. The mark of the catalogue stays until the job has ended.
 * @returns the experiment after the change
 */
export function changeOwnFields(job: TrainingJob, change: ChangeFields): Promise<Experiment> {
  const { record, records, now } = job;
  const { project_id, experiment_id } = record;
  return retryOnConflict(async () => {
    const present = await requireExperiment(records, project_id, experiment_id);
    const previous = await findFields(records, project_id, experiment_id);
    const before = previous ?? noFields(present);
    const { fields } = await change(before, present);
    if (fields === before) return present;
    const value = { ...fields, updated_at: now().toISOString(), version: before.version + 1 };
    await records.write(
      changeJob(experimentKey(project_id, experiment_id), {}),
      putFields(project_id, experiment_id, value, previous),
      leaseCheck(job),
    );
    return requireExperiment(records, project_id, experiment_id);
  });
}

/** Add params that the job's experiment does not have. Never rejects. Returns the warnings for the run. */
export async function addOwnParams(
  job: TrainingJob,
  params: Readonly<Record<string, string>>,
): Promise<string[]> {
  try {
    await changeOwnFields(job, (fields) => {
      const isKnown = Object.keys(params).every((name) => Object.hasOwn(fields.params, name));
      if (isKnown) return { fields };
      return { fields: requireRoom({ ...fields, params: { ...params, ...fields.params } }, 'params') };
    });
    return [];
  } catch (error) {
    return [`The hyperparameters of TensorBoard's files are not recorded: ${errorText(error)}`];
  }
}
