import { expect, test } from 'vitest';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { batchControl } from '../../../shared/aws/batch.ts';
import { batch } from '../../../shared/aws/batch-client.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { unfinishedOf } from '../../support/unfinished.ts';

const hour = 3600;
/** Nothing is ever placed. */
const full = { queues: ['train', 'cluster'].map((name) => ({ name, maxJobs: 0 })) };
const noSlot = 'Batch says: Waiting for a free slot: 0 of 0 jobs are running.';

const control = (service: TrainingService) => batchControl(batch(service.environment));

const reconcileAfter = (service: TrainingService, seconds: number) =>
  reconcileAll({
    records: service.records,
    batch: control(service),
    settings: readSettings(service.environment),
    now: () => new Date(Date.now() + seconds * 1000),
  });

test('a job that waits for capacity says why as soon as Batch knows, and is given up in the end', async () => {
  const service = await trainingService(full);
  const project_id = await service.project({ command: 'true' });
  const { json } = await service.call(train, {
    path: { project_id },
    query: { config: 'train.yaml' },
    as: service.developer,
  });
  const { experiment_id } = json;
  const read = () => service.until(project_id, experiment_id, ({ status }) => status === 'RUNNABLE');
  // The event that told of RUNNABLE came before Batch looked for a place, or with it.
  await service.records.write({
    update: { pk: `EXPERIMENTS#${project_id}`, sk: experiment_id },
    change: { set: { status_reason: 'Waits for compute capacity.' } },
    if: { equals: { status: (await read()).status } },
  });
  await reconcileAfter(service, hour);
  expect((await read()).status_reason).toBe(`Waits for compute capacity. ${noSlot}`);
  await reconcileAfter(service, 71 * hour);
  expect((await read()).status).toBe('RUNNABLE');
  await reconcileAfter(service, 73 * hour);
  expect(await service.ended(project_id, experiment_id)).toMatchObject({
    status: 'FAILED',
    attempt: 0,
    status_reason: expect.stringMatching(/^It waited 72 hours for compute capacity.*free slot/),
  });
  const id = await control(service).findByName('train', `train-${experiment_id}`);
  expect(await control(service).describe([String(id)])).toMatchObject([{ status: 'FAILED' }]);
  expect(await unfinishedOf(service.records)).toEqual([]);
});

test('so does one whose environment waits to be built', async () => {
  const service = await trainingService(full);
  const project_id = await service.project({ command: 'true', env_type: 'python', dependencies: 'numpy' });
  const { json } = await service.call(trainRemote, { path: { project_id }, as: service.developer });
  const { experiment_id } = json;
  await service.until(project_id, experiment_id, ({ status }) => status === 'PENDING');
  await expect
    .poll(async () => {
      await reconcileAfter(service, hour);
      return (await service.until(project_id, experiment_id, () => true)).status_reason;
    })
    .toBe(`The build of the environment waits for compute capacity. ${noSlot}`);
  await reconcileAfter(service, 73 * hour);
  expect(await service.ended(project_id, experiment_id)).toMatchObject({
    status: 'FAILED',
    status_reason: expect.stringContaining('It waited 72 hours'),
  });
  for (const [queue, name] of [
    ['train', 'build'],
    ['cluster', 'train-remote'],
  ] as const) {
    const id = await control(service).findByName(queue, `${name}-${experiment_id}`);
    await expect.poll(async () => (await control(service).describe([String(id)]))[0]?.status).toBe('FAILED');
  }
});
