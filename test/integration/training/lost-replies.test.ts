import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { readSettings } from '../../../shared/core/settings.ts';
import {
  experimentJob,
  experimentKey,
  parseExperiment,
  putExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import { createProject } from '../../../shared/data/projects/project.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { beginJob } from '../../../shared/jobs/job-slots.ts';
import { holdJob } from '../../../shared/runner/job/hold-job.ts';
import { experimentOf } from '../../support/experiment.ts';
import { projectOf } from '../../support/project.ts';
import { testService } from '../../support/service.ts';

const me = { batch_job_id: 'b', batch_attempt: 1, node: 0, isBuild: false };
const now = () => new Date();

async function recorded(count: number) {
  const service = await testService();
  const settings = readSettings(service.environment);
  const project_id = ulid().toLowerCase();
  await createProject(service.records, projectOf(project_id));
  const experiments = Array.from({ length: count }, () => ({
    ...experimentOf(project_id, null),
    status: 'SUBMITTED' as const,
    status_rank: 1,
    attempt: 0,
    batch_job_id: 'b',
  }));
  for (const one of experiments)
    await beginJob(service.records, experimentJob(one), settings.limits, [putExperiment(one)]);
  return { service, settings, experiments, project_id };
}

test('a container whose lease was taken and the reply lost knows it for its own', async () => {
  const { service, experiments, project_id } = await recorded(1);
  const { experiment_id } = experiments[0]!;
  let lost = 2;
  const records: TableWriter<'records'> = {
    ...service.records,
    async write(...writes) {
      await service.records.write(...writes);
      lost -= 1;
      if (lost >= 0) throw new Error('the reply was lost');
    },
  };
  const wanted = { subject: experimentKey(project_id, experiment_id), parse: parseExperiment };
  const held = await holdJob(records, wanted, me, now);
  expect(held).toMatchObject({ lease: { number: 1 }, record: { status: 'RUNNING', attempt: 1 } });
  expect(await holdJob(service.records, wanted, { ...me, batch_job_id: 'c' }, now)).toMatchObject({
    refused: expect.stringContaining('already runs this job'),
  });
});
