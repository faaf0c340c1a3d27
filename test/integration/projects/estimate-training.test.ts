import { expect, test } from 'vitest';
import { endpoint as estimateTraining } from '../../../functions/projects/training/estimate-training.endpoint.ts';
import { testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';

const service = await testService();
const ada = await service.user('developer', 'ada');
const project_id = await newProject(service, ada);

const prices = JSON.stringify({ fargate: { base: 0.001, vcpu: 0.04, gib: 0.004 }, nodes: [] });
const ask = (query: Record<string, string>, PRICES?: string) =>
  service.call(estimateTraining, {
    as: ada,
    path: { project_id },
    query,
    ...(PRICES !== undefined && { environment: { ...service.environment, PRICES } }),
  });

test('a size is completed as beginning a training would complete it, and has a price', async () => {
  const { status, json } = await ask({ vcpus: '2', timeout: '3600' }, prices);
  expect(status).toBe(200);
  expect(json).toEqual({
    ...{ vcpus: 2, memory: 4096, gpus: 0, nodes: 1, timeout: 3600, cost_estimate: 0.097 },
    ...{ capacity: 'on-demand', spot_estimate: null },
  });
});

test('there is no cost where compute has no price', async () => {
  const { json } = await ask({ nodes: '3' });
  expect(json).toMatchObject({ nodes: 3, memory: 2048, cost_estimate: null });
});

test.each([{ vcpus: '3' }, { vcpus: '1', memory: '999999' }, { timeout: '99999999' }, { nodes: '65' }])(
  'the size %j is refused as it would be then',
  async (query) => {
    expect((await ask(query)).status).toBe(400);
  },
);
