import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as deleteToken } from '../../../functions/auth/delete-token.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { hashPassword } from '../../../shared/accounts/password.ts';
import { changeAttempts } from '../../../shared/data/accounts/sign-in-throttle.ts';
import {
  createUser,
  earlierPasswordKey,
  findCredentials,
  passwordKey,
  type User,
} from '../../../shared/data/accounts/user.ts';
import { type Call, type TestService, testService } from '../../support/service.ts';

/** The password "password", hashed at a cost that is no longer the present one. */
const dearHash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';

const json = (body: object): Call => ({
  body: JSON.stringify(body),
  headers: { 'Content-Type': 'application/json' },
});

describe('tokens', () => {
  let service: TestService;
  let ada: User;

  async function register(username: string, hash: string): Promise<User> {
    const created_at = new Date().toISOString();
    const user: User = {
      user_id: ulid().toLowerCase(),
      username,
      account_type: 'developer',
      created_at,
      version: 1,
      credentials_version: 1,
    };
    await createUser(service.accounts, user, hash);
    return user;
  }

  beforeAll(async () => {
    service = await testService();
    ada = await register('ada', await hashPassword('correct horse'));
  });

  const grant = (username: string, password: string) => json({ grant_type: 'password', username, password });

  test('sign-in by JSON answers a token that works until sign-out', async () => {
    const answer = await service.call(createToken, grant('Ada', 'correct horse'));
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json).toEqual({
      access_token: expect.stringMatching(new RegExp(`^${ada.user_id}\\.[A-Za-z0-9_-]{43}$`)),
      token_type: 'Bearer',
      expires_in: 43_200,
      user_id: ada.user_id,
      username: 'ada',
      account_type: 'developer',
    });
    const as = { user: ada, token: answer.json.access_token };
    expect((await service.call(listProjects, { as })).status).toBe(200);
    const out = await service.call(deleteToken, { as });
    expect([out.status, out.json]).toEqual([200, {}]);
    expect((await service.call(listProjects, { as })).status).toBe(401);
  });

  test('sign-in by form', async () => {
    const body = new URLSearchParams({ grant_type: 'password', username: 'ada', password: 'correct horse' });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await service.call(createToken, { body: body.toString(), headers });
    expect(answer.status).toBe(200);
  });

  test.each([
    ['a wrong password', 'ada', 'Correct horse'],
    ['an unknown user', 'nobody', 'correct horse'],
    ['a name that nobody can have', '../ada', 'correct horse'],
  ])('%s gets the same answer', async (_, username, password) => {
    const answer = await service.call(createToken, grant(username, password));
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json).toMatchObject({
      error: 'invalid_grant',
      detail: 'The user name or the password is wrong.',
    });
    expect(answer.text).not.toContain(password);
  });

  test('every fault is named, and none repeats the password', async () => {
    const answer = await service.call(createToken, {
      ...json({ grant_type: 'client_credentials', password: 'secret-\ud800', scope: 'all' }),
      query: 'password=secret-word',
    });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual(
      expect.arrayContaining([
        { in: 'body', name: 'grant_type', message: 'must be "password"' },
        { in: 'body', name: 'username', message: 'is required' },
        { in: 'body', name: 'password', message: expect.stringContaining('half a character') },
        expect.objectContaining({ in: 'body', name: 'scope' }),
        expect.objectContaining({ in: 'query', name: 'password' }),
      ]),
    );
    expect(answer.text).not.toContain('secret-');
  });

  test('sign-in makes a hash of another cost anew', async () => {
    await register('grace', dearHash);
    expect((await service.call(createToken, grant('grace', 'password'))).status).toBe(200);
    const stored = await findCredentials(service.accounts, 'grace');
    expect(stored?.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect((await service.call(createToken, grant('grace', 'password'))).status).toBe(200);
  });

  test('sign-in moves the hash of an earlier release out of the partition of the tokens', async () => {
    const { user_id } = await register('hedy', await hashPassword('correct horse'));
    const stored = await service.accounts.get(passwordKey(user_id));
    const earlier = { ...stored, ...earlierPasswordKey(user_id) };
    await service.accounts.write({ delete: passwordKey(user_id) }, { put: earlier });

    expect((await service.call(createToken, grant('hedy', 'wrong horse'))).status).toBe(401);
    expect(await service.accounts.get(earlierPasswordKey(user_id))).toBeDefined();
    for (const _ of [1, 2])
      expect((await service.call(createToken, grant('hedy', 'correct horse'))).status).toBe(200);
    expect(await service.accounts.get(earlierPasswordKey(user_id))).toBeUndefined();
    expect((await service.accounts.get(passwordKey(user_id)))?.['hash']).toBe(stored?.['hash']);
  });

  test('too many failures must wait, from that address alone', async () => {
    await register('mary', await hashPassword('correct horse'));
    const from = (sourceIp: string, password: string) =>
      service.call(createToken, { ...grant('mary', password), sourceIp });
    const now = Date.now();
    const counted = { count: 20, open_at: now + 600_000, ttl: Math.ceil(now / 1000) + 86_400 };
    await changeAttempts(service.accounts, [{ address: '203.0.113.7', username: 'mary' }], () => [
      { replace: counted },
    ]);
    const refused = await from('203.0.113.7', 'correct horse');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(500);
    expect((await from('203.0.113.8', 'correct horse')).status).toBe(200);
  });

  test('sign-out needs a token', async () => {
    expect((await service.call(deleteToken)).status).toBe(401);
  });
});
