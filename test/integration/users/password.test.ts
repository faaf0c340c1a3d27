import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as changePassword } from '../../../functions/users/change-password.endpoint.ts';
import { endpoint as createUser } from '../../../functions/users/create-user.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { changeAttempts } from '../../../shared/data/accounts/sign-in-throttle.ts';
import { type Call, type TestService, type TestUser, testService } from '../../support/service.ts';
import { json } from './body.ts';

const old = 'the old password';
const fresh = 'the new password';

describe('changing passwords', () => {
  let service: TestService;
  let admin: TestUser;
  beforeAll(async () => {
    service = await testService();
    admin = await service.user('admin');
  });

  const signIn = (username: string, password: string) =>
    service.call(createToken, json({ grant_type: 'password', username, password }));

  /** A user with the old password, signed in twice. */
  async function register(username: string): Promise<[TestUser, TestUser]> {
    const call = json({ username, account_type: 'guest', password: old });
    const { json: created } = await service.call(createUser, { ...call, as: admin });
    const user = { ...created, version: 1, credentials_version: 1 };
    const [one, other] = [await signIn(username, old), await signIn(username, old)];
    return [
      { user, token: one.json.access_token },
      { user, token: other.json.access_token },
    ];
  }

  const change = (username: string, as: TestUser, body: object, more: Call = {}) => {
    const call = json(body);
    return service.call(changePassword, {
      path: { username },
      as,
      ...call,
      ...more,
      headers: { ...call.headers, ...more.headers },
    });
  };
  const statusOf = async (as: TestUser) => (await service.call(readOwnAccount, { as })).status;

  test('with the current one; all tokens die at once', async () => {
    const [ada, elsewhere] = await register('ada');
    const answer = await change('Ada', ada, { password: fresh, current_password: old });
    expect([answer.status, answer.json.username]).toEqual([200, 'ada']);
    expect(answer.text).not.toContain(fresh);
    expect([await statusOf(ada), await statusOf(elsewhere)]).toEqual([401, 401]);
    expect((await signIn('ada', old)).status).toBe(401);
    expect((await signIn('ada', fresh)).status).toBe(200);
  });

  test('not without the current one, nor with a wrong one', async () => {
    const [grace] = await register('grace');
    const without = await change('grace', grace, { password: fresh });
    expect(without.status).toBe(400);
    expect(without.json.errors).toEqual([{ in: 'body', name: 'current_password', message: 'is required' }]);
    const wrong = await change('grace', grace, { password: fresh, current_password: 'wrong' });
    expect(wrong.status).toBe(403);
    expect(await statusOf(grace)).toBe(200);
    expect((await signIn('grace', old)).status).toBe(200);
  });

  test('wrong current passwords count as failed sign-ins', async () => {
    const [joan] = await register('joan');
    const now = Date.now();
    const counted = { count: 20, open_at: now + 600_000, ttl: Math.ceil(now / 1000) + 86_400 };
    await changeAttempts(service.accounts, [{ address: '203.0.113.9', username: 'joan' }], () => [
      { replace: counted },
    ]);
    const body = { password: fresh, current_password: old };
    const refused = await change('joan', joan, body, { sourceIp: '203.0.113.9' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(500);
    expect((await change('joan', joan, body)).status).toBe(200);
  });

  test('an admin needs no current one, nobody else may', async () => {
    const [mary] = await register('mary');
    const stranger = await service.user('developer');
    const body = { password: fresh, current_password: old };
    expect((await change('mary', stranger, body)).status).toBe(403);
    expect((await change('nobody', stranger, body)).status).toBe(403);
    expect((await change('nobody', admin, { password: fresh })).status).toBe(404);
    expect((await change('mary', admin, { password: fresh })).status).toBe(200);
    expect(await statusOf(mary)).toBe(401);
    expect((await signIn('mary', fresh)).status).toBe(200);
  });

  test('If-Match guards it, a password in the query is refused, a common one too', async () => {
    await register('edith');
    const stale = await change('edith', admin, { password: fresh }, { headers: { 'If-Match': '"7-x"' } });
    expect(stale.status).toBe(412);
    const query = { current_password: old };
    const inQuery = await change('edith', admin, { password: 'password123' }, { query });
    expect(inQuery.status).toBe(400);
    expect(inQuery.json.errors).toEqual([
      { in: 'query', name: 'current_password', message: expect.stringContaining('send it as JSON or form') },
      { in: 'body', name: 'password', message: 'is one of the commonest passwords' },
    ]);
    expect((await signIn('edith', old)).status).toBe(200);
  });

  test('the name of the user is none, whoever sets it', async () => {
    const [ada] = await register('ada-king');
    const own = await change('ada-king', ada, { password: 'AdaKing-AdaKing-1', current_password: old });
    const byAdmin = await change('ada-king', admin, { password: 'gnikada.2026' });

    for (const refused of [own, byAdmin]) {
      expect(refused.status).toBe(400);
      expect(refused.json.errors).toEqual([
        { in: 'body', name: 'password', message: "is made of the user's or the service's name alone" },
      ]);
    }
    expect((await signIn('ada-king', old)).status).toBe(200);
  });

  test('of two changes at once with the same current one, one wins', async () => {
    const [hedy] = await register('hedy');
    const bodies = ['the first of two', 'the second of two'].map((password) => ({
      password,
      current_password: old,
    }));
    const answers = await Promise.all(bodies.map((body) => change('hedy', hedy, body)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    expect([401, 403, 409]).toContain(statuses[1]);
    const winner = bodies[answers.findIndex(({ status }) => status === 200)]?.password ?? '';
    expect((await signIn('hedy', winner)).status).toBe(200);
  });
});
