import { expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { requireProject } from '../../../shared/data/projects/project.ts';
import { changeFields, noFields } from '../../../shared/experiments/change-fields.ts';
import { recordLogged } from '../../../shared/experiments/logged-experiment.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { batchNameOf } from '../../../shared/jobs/job-record.ts';
import { observeJob } from '../../../shared/jobs/observation.ts';
import { recordedJobs } from '../../support/recorded-jobs.ts';

test('experiments that the program of a training began end with it if every attempt is lost', async () => {
  const { service, project_id, experiments } = await recordedJobs(2);
  const { records } = service;
  const [lost, other] = experiments;
  const project = await requireProject(records, project_id);
  const begun = await Promise.all(
    [lost, lost, other].map(async (job) => {
      const experiment_id = newId();
      const { user_id } = job!;
      const fields = { ...noFields(job!), updated_at: new Date().toISOString() };
      await recordLogged(records, { project, experiment_id, caller: { user_id }, fields, job });
      return experiment_id;
    }),
  );
  const [, done = ''] = begun;
  await changeFields({ records, now: () => new Date() }, { project_id, experiment_id: done }, (fields) => ({
    fields,
    set: { status: 'SUCCEEDED' },
  }));
  const present = await requireExperiment(records, project_id, lost!.experiment_id);
  const hostLost = { id: present.batch_job_id ?? 'b', name: batchNameOf(present), attempt: 3, attempts: [] };

  const over = {
    ...hostLost,
    status: 'FAILED',
    exitCode: undefined,
    reason: 'Host EC2 terminated.',
  } as const;
  await observeJob(records, present, over, new Date());
  await taskHandler(purge, service.environment)(undefined);

  const found = await Promise.all(begun.map((id) => requireExperiment(records, project_id, id)));
  expect(found.map(({ status }) => status)).toEqual(['FAILED', 'SUCCEEDED', 'RUNNING']);
  expect(found[0]?.stopped_at).not.toBeNull();
});
