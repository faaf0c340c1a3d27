import { describe, expect, test } from 'vitest';
import { endpoint as putProjectBudget } from '../../../functions/projects/budget/put-project-budget.endpoint.ts';
import { endpoint as checkTraining } from '../../../functions/projects/training/check-training.endpoint.ts';
import { countersKey } from '../../../shared/data/projects/project.ts';
import { testService } from '../../support/service.ts';
import { json } from '../users/body.ts';
import { newProject } from './new-project.ts';

const service = await testService();
const ada = await service.user('developer', 'ada');
const project_id = await newProject(service, ada);

const priced = { PRICES: JSON.stringify({ fargate: { base: 0, vcpu: 1, gib: 0 }, nodes: [] }) };
const check = (query: Record<string, string>, more: Record<string, string> = {}) =>
  service.call(checkTraining, {
    as: ada,
    query,
    environment: { ...service.environment, JOBS_RUN_AS: 'containers', ...more },
  });
const namesOf = ({ json }: Awaited<ReturnType<typeof check>>) =>
  json.errors.map(({ name }: { name: string }) => name).sort();

describe('before anything is uploaded', () => {
  test('a training of a project that is still to be created is checked, with all faults at once', async () => {
    const refused = await check({
      capacity: 'spot',
      timeout: '999999',
      dataset: 'absent',
      budget: '5',
    });
    const taken = await check({ vcpus: '2' });

    expect([refused.status, namesOf(refused)]).toEqual([400, ['budget', 'capacity', 'dataset', 'timeout']]);
    expect([taken.status, taken.json]).toEqual([
      200,
      expect.objectContaining({ vcpus: 2, memory: 4096, capacity: 'on-demand', cost_estimate: null }),
    ]);
  });

  test('what a sweep must have room for is more than what a training needs', async () => {
    const query = { budget: '0.5', timeout: '3600', project_id };

    expect((await check(query, priced)).status).toBe(200);
    expect(namesOf(await check({ ...query, begins: 'sweep' }, priced))).toEqual(['budget']);
  });

  test('a budget that has no room for a training is said, and a schedule may wait for another month', async () => {
    await service.call(putProjectBudget, { path: { project_id }, ...json({ amount: 0.5 }), as: ada });
    const query = { timeout: '3600', project_id };

    const short = await check(query, priced);
    const scheduled = await check({ ...query, begins: 'schedule' }, priced);

    expect(short.status).toBe(409);
    expect(short.json.detail).toContain('US$ 0.5 is left, and this may cost US$ 1.');
    expect(scheduled.status).toBe(200);
  });

  test('a project that is full of schedules says so', async () => {
    const update = { update: countersKey(project_id), change: { add: { schedules: 100 } } };
    await service.records.write(update);

    const full = await check({ project_id, begins: 'schedule' });

    expect([full.status, full.json.detail]).toEqual([
      409,
      'The project has the maximum of 100 schedules. Delete one first.',
    ]);
  });
});
