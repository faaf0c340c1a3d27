import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as listTokens } from '../../../functions/auth/list-tokens.endpoint.ts';
import { endpoint as putRunBudget } from '../../../functions/experiments/budget/put-experiment-budget.endpoint.ts';
import { endpoint as readRunBudget } from '../../../functions/experiments/budget/read-experiment-budget.endpoint.ts';
import { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as putBudget } from '../../../functions/projects/budget/put-project-budget.endpoint.ts';
import { endpoint as readBudget } from '../../../functions/projects/budget/read-project-budget.endpoint.ts';
import { endpoint as rerun } from '../../../functions/projects/training/rerun-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as putUserBudget } from '../../../functions/users/budget/put-user-budget.endpoint.ts';
import { endpoint as readUserBudget } from '../../../functions/users/budget/read-user-budget.endpoint.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { putTrust } from '../../../shared/data/accounts/ci-trust.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { everySample } from '../../support/samples.ts';
import type { Answer, TestUser } from '../../support/service.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { usualHook } from '../hooks/usual-hook.ts';
import { json } from '../users/body.ts';

/** A dollar a minute, and a started minute is paid. A training of at most an hour may cost 60. */
const prices = JSON.stringify({ fargate: { base: 60, vcpu: 0, gib: 0 }, nodes: [] });
const hour = { config: 'train.yaml', timeout: '3600' };

/** Saves a checkpoint at SIGTERM; goes on from one to its end. */
const program = `
trap 'touch "$CHECKPOINT_DIR/saved"; exit 143' TERM
if [ -e "$CHECKPOINT_DIR/saved" ]; then echo went on; exit 0; fi
echo begun
while :; do sleep 0.1; done
`;

const ends: (() => Promise<unknown>)[] = [];
let service: TrainingService;

beforeAll(async () => {
  // The first heartbeat stops what has used its budget up; by then its program has set its trap.
  const more = { PRICES: prices, HEARTBEAT_SECONDS: '2', LIMIT_UNFINISHED_JOBS: '1' };
  service = await trainingService({}, more, (end) => ends.push(end));
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const newProject = (command = 'sh train.sh') => service.project({ command, files: { 'train.sh': program } });

const call = (endpoint: AnyEndpoint, path: object, more: object = {}) =>
  service.call(endpoint, { path: { ...path }, as: service.developer, ...more });

async function must(answer: Promise<Answer>): Promise<Answer['json']> {
  const { status, text, json: body } = await answer;
  expect(status, text).toBe(200);
  return body;
}

describe('a budget', () => {
  test('of a training stops it with its checkpoint, and a rerun with more goes on from there', async () => {
    const project_id = await newProject();
    const told = await usualHook(service, project_id);

    const first = await must(call(train, { project_id }, { query: { ...hour, budget: '1' } }));
    const reserved = await must(call(readBudget, { project_id }));
    const stopped = await service.ended(project_id, first.experiment_id);
    const path = { project_id, experiment_id: first.experiment_id };
    const own = await must(call(readRunBudget, path));
    const late = await call(putRunBudget, path, json({ amount: 5 }));
    const again = await must(call(rerun, path, { query: { budget: '5' } }));
    const ended = await service.ended(project_id, again.experiment_id);

    expect(reserved).toMatchObject({ amount: null, spent: 0, reserved: 1 });
    expect(stopped).toMatchObject({ status: 'CANCELLED' });
    expect(stopped.status_reason).toMatch(
      /^Stopped by a budget\. It has cost US\$ 1 of its budget of US\$ 1\./,
    );
    expect(own).toEqual({ amount: 1, month: null, spent: 1, reserved: 0, left: 0 });
    expect(late.status).toBe(409);
    expect(ended.status).toBe('SUCCEEDED');
    expect(await told()).toEqual(['experiment.stopped', 'experiment.succeeded']);
    expect(await service.log(project_id, again.experiment_id)).toContain('went on');
    expect(await must(call(readBudget, { project_id }))).toMatchObject({ spent: 2, reserved: 0 });
  });

  test('of a training is at least what a minute costs, which is paid in any case', async () => {
    const project_id = await newProject('sh -c "while :; do sleep 0.1; done"');
    const refusals: Answer[] = [];

    for (const budget of ['0.000001', '0.999'])
      refusals.push(await call(train, { project_id }, { query: { ...hour, budget } }));
    const half = await call(train, { project_id }, { query: { ...hour, timeout: '30', budget: '0.5' } });
    const begun = await must(call(train, { project_id }, { query: { ...hour, budget: '1.5' } }));
    const path = { project_id, experiment_id: begun.experiment_id };
    const lowered = await call(putRunBudget, path, json({ amount: 0.5 }));
    await must(call(cancelExperiment, path));
    await service.ended(project_id, begun.experiment_id);
    const again = await call(rerun, path, { query: { budget: '0.5' } });

    const message =
      'must be at least 1, what a minute of this size costs: every attempt is paid for at least a minute';
    for (const refused of [...refusals, half, again]) {
      expect(refused.status).toBe(400);
      expect(refused.json.errors).toEqual([{ in: 'query', name: 'budget', message }]);
    }
    expect(lowered.status).toBe(400);
    expect(lowered.json.errors).toEqual([{ in: 'body', name: 'amount', message }]);
    expect(await must(call(readBudget, { project_id }))).toMatchObject({ reserved: 0 });
  });

  test('of a project refuses what it has no room for, and stops what runs once it is lowered', async () => {
    const project_id = await newProject();
    const set = (amount: number | null) => must(call(putBudget, { project_id }, json({ amount })));

    await set(59);
    const refused = await call(train, { project_id }, { query: hour });
    await set(61);
    const begun = await must(call(train, { project_id }, { query: hour }));
    const second = await call(train, { project_id }, { query: hour });
    await service.until(project_id, begun.experiment_id, ({ status }) => status === 'RUNNING');
    await set(0.9);
    const stopped = await service.ended(project_id, begun.experiment_id);

    expect(refused.status).toBe(409);
    expect(refused.json.detail).toMatch(
      /^The budget of the project for \d{4}-\d\d is US\$ 59\. US\$ 59 is left, and this may cost US\$ 60\./,
    );
    expect(second.json.detail).toContain('US$ 1 is left');
    expect(stopped.status).toBe('CANCELLED');
    expect(stopped.status_reason).toMatch(/The budget of its project for \d{4}-\d\d, US\$ 0\.9, is used up/);
    expect(await must(call(readBudget, { project_id }))).toMatchObject({ amount: 0.9, spent: 1, left: 0 });
    expect(await set(null)).toMatchObject({ amount: null, left: null });
  });

  test('of a user counts what waits, and gets back what it did not cost', async () => {
    const project_id = await newProject('sh -c "while :; do sleep 0.1; done"');
    const { user_id } = service.developer.user;
    const before = await must(call(readUserBudget, { user_id }));
    const admin = await service.user('admin');
    const set = (amount: number | null) =>
      must(service.call(putUserBudget, { path: { user_id }, as: admin, ...json({ amount }) }));

    await set(before.spent + 121);
    const running = await must(call(train, { project_id }, { query: hour }));
    const waiting = await must(call(train, { project_id }, { query: hour }));
    const refused = await call(train, { project_id }, { query: hour });
    const own = await call(putUserBudget, { user_id }, json({ amount: 1000 }));
    await service.until(project_id, running.experiment_id, ({ status }) => status === 'RUNNING');
    const lowered = await must(
      call(putRunBudget, { project_id, experiment_id: waiting.experiment_id }, json({ amount: 10 })),
    );
    const less = await must(call(readUserBudget, { user_id }));
    for (const { experiment_id } of [waiting, running]) {
      await must(call(cancelExperiment, { project_id, experiment_id }));
      await service.ended(project_id, experiment_id);
    }

    expect(waiting.place_in_line).toBe(1);
    expect(refused.json.detail).toMatch(/^Your budget for .* US\$ 1 is left/);
    expect(own.status).toBe(403);
    expect(lowered).toMatchObject({ amount: 10, reserved: 10 });
    expect(less.spent + less.reserved).toBeCloseTo(before.spent + 70);
    // A started minute is paid; the one that waited cost nothing.
    expect(await must(call(readUserBudget, { user_id }))).toMatchObject({
      spent: before.spent + 1,
      reserved: 0,
    });
    await set(null);
  });
});

describe('the budget of a token', () => {
  async function tokenWith(project_id: string, budget: number) {
    const scope = { rights: 'run', projects: [project_id] };
    const made = await service.call(createNamedToken, {
      as: service.developer,
      ...json({ name: 'ci', scope, budget }),
    });
    expect(made.json).toMatchObject({ budget, charged: 0 });
    const { token_id, access_token } = made.json;
    return {
      as: { ...service.developer, token: access_token },
      charged: async () => {
        const listed = await must(call(listTokens, {}));
        return listed.find((one: { token_id: string }) => one.token_id === token_id).charged;
      },
    };
  }

  test.runIf(everySample)(
    'refuses what it has no room for, and counts what its trainings and reruns cost in the end',
    async () => {
      const project_id = await newProject('sh -c "while :; do sleep 0.1; done"');
      const { as, charged } = await tokenWith(project_id, 61.5);
      const end = async ({ experiment_id }: { experiment_id: string }) => {
        await service.until(project_id, experiment_id, ({ status }) => status === 'RUNNING');
        await must(call(cancelExperiment, { project_id, experiment_id }, { as }));
        await service.ended(project_id, experiment_id);
        return { project_id, experiment_id };
      };

      const first = await must(call(train, { project_id }, { query: hour, as }));
      const reserved = await charged();
      const refused = await call(train, { project_id }, { query: hour, as });
      const earlier = await end(first);
      const afterwards = await charged();
      const again = await must(call(rerun, earlier, { as }));
      const withRerun = await charged();
      await end(again);
      const other = await must(call(train, { project_id }, { query: hour }));
      await end(other);

      expect(refused.status).toBe(409);
      expect(refused.json.detail).toMatch(
        /^The budget of your token is US\$ 61\.5\. US\$ 1\.5 is left, and this may cost US\$ 60\./,
      );
      // A started minute is paid.
      expect([reserved, afterwards, withRerun, await charged()]).toEqual([60, 1, 61, 2]);
    },
  );

  test.runIf(everySample)('stops what uses it up', async () => {
    const project_id = await newProject();
    const { as } = await tokenWith(project_id, 1);

    const begun = await must(call(train, { project_id }, { query: { ...hour, timeout: '60' }, as }));
    const stopped = await service.ended(project_id, begun.experiment_id);

    expect(stopped.status).toBe('CANCELLED');
    expect(stopped.status_reason).toContain('The budget of the token that began it, US$ 1, is used up.');
  });

  test('of a trust in CI is one for all of its tokens', async () => {
    const project_id = await newProject('sh -c "while :; do sleep 0.1; done"');
    const { user } = service.developer;
    const scope = { rights: 'run' as const, projects: [project_id] };
    const trust_id = newId();
    await putTrust(service.accounts, {
      ...{ trust_id, scope, budget: 61.5, provider: 'github', name: 'o/r', issuer: 'https://ci.example.org' },
      claims: { repository_id: '1', repository_owner_id: '2', ref: 'refs/heads/main' },
      user_id: user.user_id,
      created_at: new Date().toISOString(),
      credentials_version: user.credentials_version,
    });
    const tokens = await Promise.all(
      [1, 2].map(async () => {
        const options = {
          token_id: newId(),
          now: new Date(),
          seconds: 3600,
          name: 'ci:o/r',
          scope,
          trust_id,
        };
        const { bearer } = await issueToken(service.accounts, user, { ...options, budget: 61.5 });
        return { user, token: bearer };
      }),
    );
    const [first, second] = tokens as [TestUser, TestUser];

    const { experiment_id } = await must(call(train, { project_id }, { query: hour, as: first }));
    const refused = await call(train, { project_id }, { query: hour, as: second });
    await must(call(cancelExperiment, { project_id, experiment_id }, { as: second }));
    await service.ended(project_id, experiment_id);

    expect(refused.status).toBe(409);
    expect(refused.json.detail).toMatch(/^The budget of your token is US\$ 61\.5\. US\$ 1\.5 is left/);
  });

  test.each([{ rights: 'record' }, undefined])(
    'needs the right to begin something, not %j',
    async (scope) => {
      const refused = await service.call(createNamedToken, {
        as: service.developer,
        ...json({ name: 'ci', scope, budget: 1 }),
      });

      expect(refused.status).toBe(400);
      expect(refused.json.errors).toEqual([
        { in: 'body', name: 'budget', message: 'needs a scope with the right run' },
      ]);
    },
  );
});

test('a training keeps any budget where compute costs nothing', async () => {
  const nothing = JSON.stringify({ fargate: { base: 0, vcpu: 0, gib: 0 }, nodes: [] });
  const free = await trainingService({}, { PRICES: nothing });
  const project_id = await free.project({ command: 'true' });

  const begun = await must(
    free.call(train, {
      path: { project_id },
      query: { config: 'train.yaml', budget: '0.000001' },
      as: free.developer,
    }),
  );

  expect((await free.ended(project_id, begun.experiment_id)).status).toBe('SUCCEEDED');
});

test('neither a training nor a token can have a budget where compute has no price', async () => {
  const free = await trainingService();
  const project_id = await free.project({ command: 'true' });

  const refused = await free.call(train, {
    path: { project_id },
    query: { config: 'train.yaml', budget: '5' },
    as: free.developer,
  });
  const token = await free.call(createNamedToken, {
    as: free.developer,
    ...json({ name: 'ci', scope: { rights: 'run' }, budget: 1 }),
  });

  expect(token.json.errors[0].message).toBe(refused.json.errors[0].message);
  expect(refused.status).toBe(400);
  expect(refused.json.errors).toEqual([
    {
      in: 'query',
      name: 'budget',
      message:
        'cannot be kept: compute has no price in this deployment; on one machine, LOCAL_PRICE=0.05 before npm start sets US dollars for a vCPU-hour',
    },
  ]);
});
