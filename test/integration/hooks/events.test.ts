import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { event as notify } from '../../../functions/events/notify.event.ts';
import { endpoint as cancelAll } from '../../../functions/experiments/records/cancel-experiments.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { endpoint as cancelSweep } from '../../../functions/projects/sweeps/cancel-sweep.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { putUnfinished } from '../../../shared/data/jobs/job.ts';
import { compressionJob } from '../../../shared/data/models/compression.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { concludeJob } from '../../../shared/jobs/conclusion.ts';
import { recordedCompression } from '../../support/compression.ts';
import { everySample } from '../../support/samples.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { mlflowCaller } from '../mlflow/mlflow-caller.ts';
import { json } from '../users/body.ts';
import { type Receiver, startReceiver } from './hooked-project.ts';

const events = [
  'experiment.started',
  'experiment.succeeded',
  'experiment.failed',
  'experiment.cancelled',
  'strategy.succeeded',
  'strategy.failed',
  'sweep.ended',
  'model.version',
];

let receiver: Receiver;
let service: TrainingService;
let project_id: string;
const ends: (() => Promise<unknown>)[] = [];

/** Jobs are accepted by Batch and wait there. */
const full = { queues: ['train', 'cluster'].map((name) => ({ name, maxJobs: 0 })) };

beforeAll(async () => {
  receiver = await startReceiver();
  const limits = { LIMIT_UNFINISHED_JOBS: '1', HOOK_HOSTS: receiver.host };
  service = await trainingService(full, limits, (end) => ends.push(end));
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  await receiver.close();
});

beforeEach(async () => {
  receiver.received.length = 0;
  project_id = await service.project({ command: 'true' });
  const set = await service.call(putHook, {
    ...json({ url: receiver.url, events }),
    path: { project_id, name: 'team' },
    as: service.developer,
  });
  expect(set.status, set.text).toBe(200);
});

/**
 * Run the worker until nothing is left, and return what the receiver heard. The function for Batch's events may send at
 * the same time.
 */
async function heard(): Promise<[type: string, data: Record<string, unknown>][]> {
  const isLeft = async () => {
    const lists = ['NOTICES', 'DELIVERY_LANES'].map((pk) => service.records.query({ pk, limit: 1 }));
    return (await Promise.all(lists)).some(({ items }) => items.length > 0);
  };
  do await taskHandler(notify, service.environment)({ repeats: true });
  while (await isLeft());
  return receiver.received.map(({ json: { type, data } }) => [type, data]);
}

test.runIf(everySample)(
  'trainings that wait in line and are cancelled together are told one by one',
  async () => {
    const as = service.developer;
    for (let count = 0; count < 30; count += 1)
      await service.call(train, { path: { project_id }, query: { config: 'train.yaml' }, as });
    const answer = await service.call(cancelAll, { path: { project_id }, as });
    const told = await heard();

    expect(answer.json).toMatchObject({ cancelled: 30 });
    expect(told.map(([type]) => type)).toEqual(Array(30).fill('experiment.cancelled'));
    expect(new Set(told.map(([, data]) => data['experiment_id'])).size).toBe(30);
  },
);

test('a compression is told to the project whose experiment made its model, and to no other', async () => {
  const { records, developer } = service;
  const begun = async () => {
    const made = await recordedCompression(service, developer, 'prune', false);
    await records.write(putUnfinished(compressionJob(made)));
    return made;
  };
  const [own, foreign] = [await begun(), await begun()];
  await concludeJob(
    records,
    { ...own, project_id },
    { status: 'FAILED', reason: 'It diverged.' },
    new Date(),
  );
  await concludeJob(records, foreign, { status: 'SUCCEEDED', reason: null }, new Date());

  expect(await heard()).toEqual([
    [
      'strategy.failed',
      expect.objectContaining({ project_id, strategy_id: own.strategy_id, reason: 'It diverged.' }),
    ],
  ]);
});

test('a sweep that ends is told once', async () => {
  const as = service.developer;
  const made = await service.call(createSweep, {
    ...json({ config: 'train.yaml', method: 'external', trials: 2 }),
    path: { project_id },
    as,
  });
  const { sweep_id } = made.json;
  await service.call(cancelSweep, { path: { project_id, sweep_id }, as });
  await service.call(cancelSweep, { path: { project_id, sweep_id }, as });

  expect(await heard()).toEqual([
    ['sweep.ended', expect.objectContaining({ sweep_id, status: 'CANCELLED' })],
  ]);
});

test('a new version of a model is told to the project of its run', async () => {
  const caller = mlflowCaller(service, service.developer);
  const run = await caller.post('runs/create', { experiment_id: project_id, start_time: 1 });
  const { run_id } = run.json.run.info;
  await caller.post('registered-models/create', { name: `digits-${project_id}` });
  const made = await caller.post('model-versions/create', {
    name: `digits-${project_id}`,
    source: `runs:/${run_id}/model`,
    run_id,
  });
  const told = await heard();

  expect(made.status, made.text).toBe(200);
  expect(told.find(([type]) => type === 'model.version')?.[1]).toMatchObject({
    name: `digits-${project_id}`,
    version: 1,
    run_id,
  });
});
