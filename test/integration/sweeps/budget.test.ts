import { expect, test } from 'vitest';
import { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as listTokens } from '../../../functions/auth/list-tokens.endpoint.ts';
import { event as notify } from '../../../functions/events/notify.event.ts';
import { endpoint as listDeliveries } from '../../../functions/projects/hooks/list-deliveries.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as createTrial } from '../../../functions/projects/sweeps/create-trial.endpoint.ts';
import { endpoint as resumeSweep } from '../../../functions/projects/sweeps/resume-sweep.endpoint.ts';
import { endpoint as updateSweep } from '../../../functions/projects/sweeps/update-sweep.endpoint.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { everySample } from '../../support/samples.ts';
import { trainingService } from '../../support/training.ts';
import { json } from '../users/body.ts';
import { sweptProject } from './swept-project.ts';

test('a sweep stops before its budget is exceeded, goes on once it was raised, and tells of both', async () => {
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

  const hook = { path: { project_id: project.project_id, name: 'team' }, as: service.developer };
  const told = { url: 'https://hooks.invalid/x', format: 'slack', events: ['budget.reached', 'sweep.ended'] };
  await project.must(service.call(putHook, { ...json(told), ...hook }));

  const refused = await project.refused({ ...spec, budget: 0.5 });
  const { sweep_id, estimate } = await project.begin({ ...spec, budget: 1.02 });
  const paused = await project.until(sweep_id, ({ status }) => status !== 'RUNNING');
  const toolittle = await project.call(updateSweep, sweep_id, json({ budget: 0.01 }));
  const stillShort = await project.must(project.call(updateSweep, sweep_id, json({ budget: 1.03 })));
  const raised = await project.must(project.call(updateSweep, sweep_id, json({ budget: 2 })));
  await project.must(project.call(resumeSweep, sweep_id));
  const ended = await project.ended(sweep_id);
  await taskHandler(notify, service.environment)({ repeats: true });
  const deliveries = await project.must(service.call(listDeliveries, hook));

  expect(refused.errors).toEqual([
    {
      in: 'body',
      name: 'budget',
      message:
        'must be at least 1, what one experiment costs that reaches its timeout; a shorter timeout costs less',
    },
  ]);
  expect(estimate).toMatchObject({ experiments: 4, cost: 4, most_each: 1 });
  expect(paused).toMatchObject({ status: 'PAUSED', counts: { complete: 2, left: 2 } });
  expect(paused.spent).toBeCloseTo(2 / 60);
  expect(paused.status_reason).toContain('Raise the budget and resume it.');
  expect(stillShort.status_reason).toMatch(
    /^Of its budget of US\$ 1\.03, .*Raise the budget and resume it\.$/,
  );
  expect(raised).toMatchObject({
    status: 'PAUSED',
    status_reason: 'There is money for further runs now. Resume the sweep.',
  });
  expect(toolittle.json.errors[0].message).toContain('must be at least');
  expect(ended).toMatchObject({ status: 'COMPLETED', counts: { complete: 4 } });
  expect(deliveries.map(({ type }: { type: string }) => type)).toEqual(['sweep.ended', 'budget.reached']);
});

/** A sweep whose runs may cost a dollar each, and cost the least that AWS charges: a minute. A token has a little more. */
async function sweepWithToken() {
  const prices = { fargate: { base: 1, vcpu: 0, gib: 0 }, nodes: [] };
  const service = await trainingService({}, { PRICES: JSON.stringify(prices) });
  const project = await sweptProject(service);
  const scope = { rights: 'run', projects: [project.project_id] };
  const made = await service.call(createNamedToken, {
    as: service.developer,
    ...json({ name: 'ci', scope, budget: 1.02 }),
  });
  const as = { ...service.developer, token: made.json.access_token };
  const charged = async (): Promise<number> => {
    const { json: listed } = await service.call(listTokens, { as: service.developer });
    return listed.find((one: { token_id: string }) => one.token_id === made.json.token_id).charged;
  };
  return { project, as, charged };
}

test.runIf(everySample)(
  'a sweep is charged to the token that began it until somebody else lets it go on',
  async () => {
    const { project, as, charged } = await sweepWithToken();
    const parameters = { depth: { values: [1, 2, 3, 4] } };
    const spec = { config: 'train.yaml', method: 'grid', metric: 'val_loss', timeout: 3600, parameters };

    const { sweep_id } = await project.must(project.call(createSweep, '', { ...json(spec), as }));
    const paused = await project.until(sweep_id, ({ status }) => status !== 'RUNNING');
    const spent = await charged();
    await project.must(project.call(resumeSweep, sweep_id));
    const ended = await project.ended(sweep_id);

    expect(paused).toMatchObject({ status: 'PAUSED', counts: { complete: 2 } });
    expect(paused.status_reason).toMatch(
      /^The next run cannot begin: The budget of your token is US\$ 1\.02\./,
    );
    expect(spent).toBeCloseTo(2 / 60);
    expect(ended).toMatchObject({ status: 'COMPLETED', counts: { complete: 4 } });
    expect(await charged()).toBe(spent);
  },
);

test.runIf(everySample)(
  'a trial is charged with all its repeats to the token that asks for it, whoever began the sweep',
  async () => {
    const { project, as, charged } = await sweepWithToken();
    const spec = {
      method: 'external',
      metric: 'val_loss',
      timeout: 3600,
      trials: 1,
      repeats: 3,
      repeat_seed: 'seed',
    };

    const { sweep_id } = await project.begin(spec);
    await project.must(project.call(createTrial, sweep_id, { ...json({ params: { depth: 1 } }), as }));
    const paused = await project.until(
      sweep_id,
      ({ status, counts }) => status !== 'RUNNING' || counts.complete === 3,
    );
    const spent = await charged();
    await project.must(project.call(resumeSweep, sweep_id));
    const ended = await project.ended(sweep_id);

    expect(paused).toMatchObject({ status: 'PAUSED', counts: { complete: 2 } });
    expect(spent).toBeCloseTo(2 / 60);
    expect(ended).toMatchObject({ status: 'COMPLETED', counts: { complete: 3 } });
    expect(await charged()).toBe(spent);
  },
);

test('a sweep of a token with a budget is paused if its runs have no price', async () => {
  const { project, as } = await sweepWithToken();
  const parameters = { depth: { values: [1, 2] } };
  const spec = {
    config: 'train.yaml',
    method: 'grid',
    metric: 'val_loss',
    timeout: 3600,
    nodes: 2,
    parameters,
  };

  const begun = await project.must(project.call(createSweep, '', { ...json(spec), as }));

  expect(begun.status).toBe('PAUSED');
  expect(begun.status_reason).toMatch(
    /^The next run cannot begin: The budget of your token cannot be kept: compute has no price/,
  );
});
