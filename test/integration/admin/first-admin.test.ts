import { expect, test } from 'vitest';
import { event } from '../../../functions/admin/create-first-admin.event.ts';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { readPopulation } from '../../../shared/data/accounts/user.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { testService } from '../../support/service.ts';
import { json } from '../users/body.ts';

const password = 'a long sentence nobody guesses';

test('the first admin is created once, also by several at one moment, and can sign in', async () => {
  const service = await testService();
  const create = taskHandler(event, service.environment);
  const answers = await Promise.all([create({ password }), create({ password }), create({ password })]);
  const outcomes = answers.map((answer) => answer.outcome).sort();
  expect(outcomes).toEqual(['created', 'refused', 'refused']);
  expect(await create({ password })).toEqual({ outcome: 'refused', reason: 'admin-exists' });
  expect(await readPopulation(service.accounts)).toMatchObject({ users: 1, admins: 1 });
  const grant = { grant_type: 'password', username: 'admin', password };
  expect((await service.call(createToken, json(grant))).status).toBe(200);
});

test('somebody else who has the name stays who they are', async () => {
  const service = await testService();
  await service.user('guest', 'admin');
  const answer = await taskHandler(event, service.environment)({ password });
  expect(answer).toEqual({ outcome: 'refused', reason: 'name-taken' });
  expect(await readPopulation(service.accounts)).toMatchObject({ users: 1, admins: 0 });
});

test('whoever checks the runtime learns whether it hashes passwords, and creates nobody', async () => {
  const service = await testService();
  const answer = await taskHandler(event, service.environment)({ check: 'runtime' });
  expect(answer).toEqual({
    outcome: 'runtime',
    node: process.versions.node,
    openssl: process.versions.openssl,
  });
  expect(await readPopulation(service.accounts)).toMatchObject({ users: 0 });
});

test.each([
  [{ password: 'password' }, /commonest/],
  [{ password: 'short' }, /8 to 256/],
  [{ password: 'adminadmin1' }, /name alone/],
  [{}, /./],
  [undefined, /./],
  [{ password, username: 'root' }, /./],
])('%j creates nobody', async (request, message) => {
  const service = await testService();
  const answer = await taskHandler(event, service.environment)(request);
  expect(answer).toMatchObject({ outcome: 'bad-password', message: expect.stringMatching(message) });
  expect(await readPopulation(service.accounts)).toMatchObject({ users: 0 });
});
