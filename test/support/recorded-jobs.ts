import { ulid } from 'ulid';
import { readSettings, type Settings } from '../../shared/core/settings.ts';
import { type Experiment, experimentJob, putExperiment } from '../../shared/data/experiments/experiment.ts';
import { limitShare } from '../../shared/data/jobs/vcpu-shares.ts';
import { spreadId, spreadLists } from '../../shared/data/lists/spread-list.ts';
import { createProject } from '../../shared/data/projects/project.ts';
import { beginJob } from '../../shared/jobs/job-slots.ts';
import { experimentOf } from './experiment.ts';
import { projectOf } from './project.ts';
import { type TestService, testService } from './service.ts';

export interface RecordedJobs {
  service: TestService;
  settings: Settings;
  project_id: string;
  experiments: Experiment[];
}

/** Unfinished experiments of one project that were submitted to Batch. */
export async function recordedJobs(
  count: number,
  more: Readonly<Record<string, string>> = {},
): Promise<RecordedJobs> {
  const service = await testService(more);
  const settings = readSettings(service.environment);
  await spreadLists(service.records);
  const project_id = spreadId(ulid().toLowerCase());
  await createProject(service.records, projectOf(project_id));
  const experiments = Array.from({ length: count }, (): Experiment => {
    const experiment_id = spreadId(ulid().toLowerCase());
    return {
      ...experimentOf(project_id, null),
      experiment_id,
      user_id: ulid().toLowerCase(),
      limit_share: limitShare(experiment_id, settings.limits.vcpus),
      status: 'SUBMITTED',
      status_rank: 1,
      attempt: 0,
      batch_job_id: `b-${experiment_id}`,
    };
  });
  for (const one of experiments)
    await beginJob(service.records, experimentJob(one), settings.limits, [putExperiment(one)]);
  return { service, settings, project_id, experiments };
}

/** A Batch that knows no job. */
export const emptyBatch = {
  describe: async () => [],
  findByName: async () => undefined,
  submit: async () => 'c',
  terminate: async () => undefined,
  cancel: async () => undefined,
};
