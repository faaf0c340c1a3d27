import { expect, test, vi } from 'vitest';
import { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { batchControl } from '../../../shared/aws/batch.ts';
import { batch } from '../../../shared/aws/batch-client.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { parseExperiment, requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { acquireLease } from '../../../shared/jobs/acquire-lease.ts';
import { cancelJob } from '../../../shared/jobs/cancellation.ts';
import { unfinishedJobOf } from '../../../shared/jobs/job-record.ts';
import { trainingService } from '../../support/training.ts';
import { heldVcpus, unfinishedOf } from '../../support/unfinished.ts';

/** Nothing is ever placed. */
const full = { queues: ['train', 'cluster'].map((name) => ({ name, maxJobs: 0 })) };

test.each([
  ['CREATED', train, { config: 'train.yaml' }],
  ['RUNNABLE', train, { config: 'train.yaml' }],
  ['PENDING', trainRemote, {}],
] as const)(
  'a job that is %s is cancelled at once, and frees what it had reserved',
  async (status, endpoint, query) => {
    const service = await trainingService(full);
    const { developer: as } = service;
    const project_id = await service.project({ command: 'true', env_type: 'python', dependencies: 'numpy' });
    const away = status === 'CREATED' ? { BATCH_ENDPOINT: 'http://127.0.0.1:9' } : {};
    const environment = { ...service.environment, ...away };
    const begun = await service.call(endpoint, { path: { project_id }, query, as, environment });
    expect(begun.status, begun.text).toBe(200);
    const path = { project_id, experiment_id: begun.json.experiment_id as string };
    await service.until(project_id, path.experiment_id, (experiment) => experiment.status === status);
    const cancelled = await service.call(cancelExperiment, { path, as });
    expect(cancelled).toMatchObject({ status: 200, json: { status: 'CANCELLED', attempt: 0 } });
    expect(await unfinishedOf(service.records)).toEqual([]);
    const { items } = await service.records.query({ pk: 'LIMITS', prefix: 'USER#' });
    expect(items.map(({ unfinished }) => unfinished)).toEqual([0]);
    expect(await heldVcpus(service.records)).toBe(0);
    const control = batchControl(batch(service.environment));
    for (const [queue, name] of [
      ['train', 'build'],
      ['train', 'train'],
      ['cluster', 'train-remote'],
    ] as const) {
      const id = await control.findByName(queue, `${name}-${path.experiment_id}`);
      if (id === undefined) continue;
      await expect.poll(async () => (await control.describe([id]))[0]?.status).toBe('FAILED');
    }
  },
);

test('a job whose container starts while it is cancelled has its leftovers removed', async () => {
  const service = await trainingService(full);
  const { developer: as, records } = service;
  const project_id = await service.project({ command: 'true' });
  const begun = await service.call(train, { path: { project_id }, query: { config: 'train.yaml' }, as });
  const { experiment_id } = begun.json;
  await service.until(project_id, experiment_id, ({ status }) => status === 'RUNNABLE');
  const read = await requireExperiment(records, project_id, experiment_id);
  const { subject } = unfinishedJobOf(read);
  const container = { batch_job_id: read.batch_job_id ?? '', batch_attempt: 1, node: 0, isBuild: false };
  await acquireLease(records, { subject, parse: parseExperiment }, container, new Date(), 'container');
  const write = vi.spyOn(records, 'write');

  const control = batchControl(batch(service.environment));
  const settings = readSettings(service.environment);
  await cancelJob(records, control, settings, read, { by: null, now: new Date() });

  expect(JSON.stringify(write.mock.calls)).toContain(`"leftovers":{"job_id":"${experiment_id}"`);
});
