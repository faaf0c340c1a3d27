import { expect, test } from 'vitest';
import { endpoint as resumeSweep } from '../../../functions/projects/sweeps/resume-sweep.endpoint.ts';
import { endpoint as updateSweep } from '../../../functions/projects/sweeps/update-sweep.endpoint.ts';
import { trainingService } from '../../support/training.ts';
import { json } from '../users/body.ts';
import { sweptProject } from './swept-project.ts';

test('a sweep stops before its budget is exceeded, and goes on once it was raised', async () => {
  const prices = { fargate: { base: 1, vcpu: 0, gib: 0 }, nodes: [] };
  const service = await trainingService({}, { PRICES: JSON.stringify(prices) });
  const project = await sweptProject(service);
  // A run may cost a dollar, and costs the least that AWS charges: a minute.
  const spec = {
    method: 'grid',
    metric: 'val_loss',
    timeout: 3600,
    parameters: { depth: { values: [1, 2, 3, 4] } },
  };

  const refused = await project.refused({ ...spec, budget: 0.5 });
  const { sweep_id, estimate } = await project.begin({ ...spec, budget: 1.02 });
  const paused = await project.until(sweep_id, ({ status }) => status !== 'RUNNING');
  const toolittle = await project.call(updateSweep, sweep_id, json({ budget: 0.01 }));
  await project.must(project.call(updateSweep, sweep_id, json({ budget: 2 })));
  await project.must(project.call(resumeSweep, sweep_id));
  const ended = await project.ended(sweep_id);

  expect(refused.errors[0]).toMatchObject({ in: 'body', name: 'budget' });
  expect(estimate).toMatchObject({ experiments: 4, cost: 4, most_each: 1 });
  expect(paused).toMatchObject({ status: 'PAUSED', counts: { complete: 2, left: 2 } });
  expect(paused.spent).toBeCloseTo(2 / 60);
  expect(paused.status_reason).toContain('Raise the budget and resume it.');
  expect(toolittle.json.errors[0].message).toContain('must be at least');
  expect(ended).toMatchObject({ status: 'COMPLETED', counts: { complete: 4 } });
});
