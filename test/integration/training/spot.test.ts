import { expect, test } from 'vitest';
import { endpoint as cancel } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import type { ContainerStart } from '../../../infra/local/batch/jobs/attempt.ts';
import { batchControl } from '../../../shared/aws/batch.ts';
import { batch as batchClient } from '../../../shared/aws/batch-client.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { spotWaitSeconds } from '../../../shared/jobs/spot/spot.ts';
import { everySample } from '../../support/samples.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';

const prices = {
  fargate: { base: 0, vcpu: 3600, gib: 0 },
  spot: { fargate: 0.25, nodes: 0.5 },
  nodes: [],
};
const variables = { TRAIN_SPOT_QUEUE: 'train-spot', PRICES: JSON.stringify(prices) };

/** A service with Spot on which so many jobs have room at once. Each attempt there loses its host as it starts. */
const onSpot = (room: number) =>
  trainingService(
    {
      queues: [
        { name: 'train', maxJobs: 2, platform: 'FARGATE' },
        { name: 'train-spot', maxJobs: room, platform: 'FARGATE' },
      ],
      startFailure: ({ jobName }: ContainerStart) =>
        jobName.endsWith('-od') ? undefined : { statusReason: 'Your Spot Task was interrupted.' },
    },
    variables,
  );

async function begin(service: TrainingService, capacity: string) {
  const project_id = await service.project({ command: 'echo it runs' });
  const answer = await service.call(train, {
    path: { project_id },
    query: { config: 'train.yaml', timeout: '100', capacity },
    as: service.developer,
  });
  expect(answer.status, answer.text).toBe(200);
  return { project_id, experiment_id: answer.json.experiment_id as string, begun: answer.json };
}

const passAfter = (service: TrainingService, seconds: number) =>
  reconcileAll({
    records: service.records,
    batch: batchControl(batchClient(service.environment)),
    settings: readSettings(service.environment),
    now: () => new Date(Date.now() + seconds * 1000),
  });

test('the third attempt is on demand, by the same lease, and each says where it ran', async () => {
  const service = await onSpot(1);
  const { project_id, experiment_id, begun } = await begin(service, 'spot-then-on-demand');

  const ended = await service.ended(project_id, experiment_id);

  expect(begun).toMatchObject({ cost_estimate: 100, spot: { estimate: 25, interruptions: 0, saved: null } });
  expect(ended).toMatchObject({ status: 'SUCCEEDED', attempt: 1, capacity: 'spot-then-on-demand' });
  expect(ended.attempts.map(({ capacity_type }: { capacity_type: string }) => capacity_type)).toEqual([
    'spot',
    'spot',
    'on-demand',
  ]);
  // Hosts that were lost before they started cost nothing, so nothing was saved.
  expect(ended.spot).toEqual({ estimate: 25, interruptions: 2, saved: 0, on_demand_cost: ended.cost });
});

test.runIf(everySample)('spot stays on Spot until the bound of losses ends it', async () => {
  const service = await onSpot(1);
  const { project_id, experiment_id, begun } = await begin(service, 'spot');

  const ended = await service.ended(project_id, experiment_id);

  expect(begun).toMatchObject({ cost_estimate: 25, spot: { estimate: 25 } });
  expect(ended.status).toBe('FAILED');
  expect(ended.attempts).toHaveLength(10);
  expect(
    new Set(ended.attempts.map(({ capacity_type }: { capacity_type: string }) => capacity_type)),
  ).toEqual(new Set(['spot']));
});

test('one that waits ten minutes for Spot goes on demand, and only once', async () => {
  const service = await onSpot(0);
  const { project_id, experiment_id } = await begin(service, 'spot-then-on-demand');
  await service.until(project_id, experiment_id, ({ status }) => status === 'RUNNABLE');

  await passAfter(service, spotWaitSeconds - 60);
  const before = await service.until(project_id, experiment_id, () => true);
  await Promise.all([passAfter(service, spotWaitSeconds + 60), passAfter(service, spotWaitSeconds + 60)]);
  const ended = await service.ended(project_id, experiment_id);

  expect(before).toMatchObject({ status: 'RUNNABLE', attempts: [] });
  expect(ended).toMatchObject({ status: 'SUCCEEDED', attempt: 1, spot: { interruptions: 0 } });
  expect(ended.attempts).toMatchObject([{ attempt: 1, capacity_type: 'on-demand' }]);
});

test('one that is cancelled while it waits for Spot ends, and is not moved', async () => {
  const service = await onSpot(0);
  const { project_id, experiment_id } = await begin(service, 'spot-then-on-demand');
  await service.until(project_id, experiment_id, ({ status }) => status === 'RUNNABLE');

  await service.call(cancel, { path: { project_id, experiment_id }, as: service.developer });
  await passAfter(service, spotWaitSeconds + 60);

  expect(await service.ended(project_id, experiment_id)).toMatchObject({ status: 'CANCELLED', attempt: 0 });
});

test('what has no Spot says so before anything begins', async () => {
  const service = await onSpot(1);
  const project_id = await service.project({ command: 'true' });
  const path = { project_id };

  const cluster = await service.call(trainRemote, {
    path,
    query: { capacity: 'spot' },
    as: service.developer,
  });
  const unknown = await service.call(train, {
    path,
    query: { config: 'train.yaml', capacity: 'cheap' },
    as: service.developer,
  });

  expect([cluster.status, cluster.json.errors]).toEqual([
    400,
    [
      {
        in: 'query',
        name: 'capacity',
        message:
          'must be on-demand for a cluster, whose nodes start and end together: there is no Spot for it',
      },
    ],
  ]);
  expect([unknown.status, unknown.json.errors[0].message]).toEqual([
    400,
    'must be spot, spot-then-on-demand or on-demand',
  ]);
});
