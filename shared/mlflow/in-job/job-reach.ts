import { ServiceError } from '../../core/service-error.ts';
import { type Experiment, experimentKey, requireExperiment } from '../../data/experiments/experiment.ts';
import { findFields, putFields } from '../../data/experiments/tracking.ts';
import { changeJob } from '../../data/jobs/job.ts';
import type { Project } from '../../data/projects/project.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import { noFields } from '../../experiments/change-fields.ts';
import { leaseCheck } from '../../runner/job/hold-job.ts';
import type { TrainingJob } from '../../runner/job/training-job.ts';
import type { RunLogs } from '../../runner/outputs/run-logs.ts';
import type { JobReach } from '../protocol/context.ts';

/** Most experiments that an attempt of a job records beside its own. */
const maxOthers = 1_000;
/** Most points that an attempt of a job logs through MLflow's API. */
const maxPoints = 1_000_000;

const projectOf = ({ project_id, created_at, user_id }: Experiment): Project => ({
  project_id,
  project_name: project_id,
  project_description: '',
  project_type: '',
  project_task: '',
  owner: null,
  owner_id: user_id,
  created_at,
  updated_at: created_at,
  version: 0,
});

/** The reach of the program of a job, and what it has recorded beside its own experiment. */
export function jobReach(job: TrainingJob, logs: RunLogs): { reach: JobReach; others: ReadonlySet<string> } {
  const { record: experiment, records, now } = job;
  const { project_id, experiment_id } = experiment;
  const others = new Set<string>();
  let points = 0;
  const reach: JobReach = {
    project: projectOf(experiment),
    experiment,

    begin(id) {
      if (others.size >= maxOthers)
        throw new ServiceError('conflict', `A job records ${maxOthers} runs at most beside its own.`);
      others.add(id);
    },

    async logPoints(more) {
      if (points + more.length > maxPoints)
        throw new ServiceError('conflict', `A job logs ${maxPoints} points at most.`);
      points += more.length;
      await logs.points(more);
    },

    // Without the mark of the catalogue: that of a training stays until its job has ended.
    changeFields: (change) =>
      retryOnConflict(async () => {
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
      }),
  };
  return { reach, others };
}
