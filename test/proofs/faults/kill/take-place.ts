import { ulid } from 'ulid';
import { experimentJob, putExperiment } from '../../../../shared/data/experiments/experiment.ts';
import { limitShare } from '../../../../shared/data/jobs/vcpu-shares.ts';
import { beginJob } from '../../../../shared/jobs/job-slots.ts';
import { experimentOf } from '../../../support/experiment.ts';
import { newProject } from '../world/project.ts';
import type { Service } from '../world/service.ts';

/** Take the only place of a user with a job of which Batch knows nothing, and return the event that would end it. */
export async function takeSlot(service: Service, token: string, user_id: string): Promise<unknown> {
  const { environment, settings, records } = service;
  environment['LIMIT_UNFINISHED_JOBS'] = '1';
  settings.limits.unfinishedJobs = 1;
  const project_id = await newProject(service, token, 'true');
  const experiment_id = ulid().toLowerCase();
  const blocker = {
    ...experimentOf(project_id, null),
    experiment_id,
    user_id,
    limit_share: limitShare(experiment_id, settings.limits.vcpus),
    status: 'SUBMITTED' as const,
    status_rank: 1,
    attempt: 0,
    batch_attempt: 0,
    batch_job_id: 'gone',
  };
  await beginJob(records, experimentJob(blocker), settings.limits, [putExperiment(blocker)]);
  return { detail: { jobId: 'gone', jobName: `train-${experiment_id}`, status: 'FAILED' } };
}
