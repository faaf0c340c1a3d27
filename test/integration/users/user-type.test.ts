import { beforeEach, describe, expect, test } from 'vitest';
import { endpoint as changeUserType } from '../../../functions/users/change-user-type.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { findUser, readPopulation } from '../../../shared/data/accounts/user.ts';
import { type Call, type TestService, type TestUser, testService } from '../../support/service.ts';
import { form, json } from './body.ts';

describe('changing account types', () => {
  let service: TestService;
  let admin: TestUser;
  beforeEach(async () => {
    service = await testService();
    admin = await service.user('admin');
  });

  const change = (user_id: string, call: Call, as = admin) =>
    service.call(changeUserType, { path: { user_id }, as, ...call });
  const isSignedIn = async (user: TestUser) =>
    (await service.call(readOwnAccount, { as: user })).status === 200;

  test.each<[string, Call]>([
    ['the query', { query: { account_type: 'viewer' } }],
    ['JSON', json({ account_type: 'viewer' })],
    ['a form', form({ account_type: 'viewer' })],
  ])('by %s; it ends all tokens of the user', async (_, call) => {
    const ada = await service.user('developer', 'ada');
    const answer = await change(ada.user.user_id, call);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      user_id: ada.user.user_id,
      username: 'ada',
      account_type: 'viewer',
      created_at: ada.user.created_at,
    });
    expect(await isSignedIn(ada)).toBe(false);
    expect(await isSignedIn(admin)).toBe(true);
  });

  test('the same type changes nothing', async () => {
    const ada = await service.user('developer');
    const answer = await change(ada.user.user_id, json({ account_type: 'developer' }));
    expect([answer.status, answer.json.account_type]).toEqual([200, 'developer']);
    expect(await isSignedIn(ada)).toBe(true);
  });

  test('is for admins; faults are 400, an unknown user 404', async () => {
    const developer = await service.user('developer');
    const id = developer.user.user_id;
    expect((await change(id, json({ account_type: 'admin' }), developer)).status).toBe(403);
    const faulty = await change('no-id', json({ account_type: 'king' }));
    expect(faulty.status).toBe(400);
    expect(faulty.json.errors).toEqual([
      expect.objectContaining({ in: 'path', name: 'user_id' }),
      expect.objectContaining({ in: 'body', name: 'account_type' }),
    ]);
    expect((await change(id, {})).json.errors).toEqual([
      { in: 'query', name: 'account_type', message: 'is required' },
    ]);
    const unknown = await change('01h00000000000000000000000', json({ account_type: 'guest' }));
    expect(unknown.status).toBe(404);
  });

  test('the last admin stays one, until there is another', async () => {
    const refused = await change(admin.user.user_id, json({ account_type: 'developer' }));
    expect(refused.status).toBe(409);
    expect(refused.json.detail).toContain('last admin');
    const other = await service.user('developer');
    expect((await change(other.user.user_id, json({ account_type: 'admin' }))).status).toBe(200);
    expect((await change(admin.user.user_id, json({ account_type: 'developer' }))).status).toBe(200);
    expect(await readPopulation(service.accounts)).toEqual({ users: 2, admins: 1 });
  });

  test('of admins who demote each other at once one stays', async () => {
    const admins = [admin, ...(await Promise.all([1, 2, 3].map(() => service.user('admin'))))];
    const answers = await Promise.all(
      admins.flatMap((as) =>
        admins.map(({ user }) => change(user.user_id, json({ account_type: 'guest' }), as)),
      ),
    );
    expect(answers.every(({ status }) => [200, 401, 403, 409].includes(status))).toBe(true);
    const users = await Promise.all(admins.map(({ user }) => findUser(service.accounts, user.user_id)));
    expect(users.filter((user) => user?.account_type === 'admin')).toHaveLength(1);
    expect(await readPopulation(service.accounts)).toEqual({ users: 4, admins: 1 });
  });
});
