import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as deleteToken } from '../../../functions/auth/delete-token.endpoint.ts';
import { endpoint as listTokens } from '../../../functions/auth/list-tokens.endpoint.ts';
import { endpoint as revokeToken } from '../../../functions/auth/revoke-token.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { changeUser, setPassword } from '../../../shared/data/accounts/change-user.ts';
import { issueNamedToken, maxNamedTokens } from '../../../shared/data/accounts/token.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { form, json } from '../users/body.ts';

describe('tokens for scripts', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await testService();
  });

  const create = (as: TestUser, body: object, program = '') => {
    const { headers, ...call } = json(body);
    return service.call(createNamedToken, { ...call, headers: { ...headers, 'User-Agent': program }, as });
  };
  const list = (as: TestUser, query = '') => service.call(listTokens, { as, query });
  const revoke = (as: TestUser, token_id: string) => service.call(revokeToken, { path: { token_id }, as });
  const statusOf = async (as: TestUser) => (await service.call(readOwnAccount, { as })).status;
  const expiry = (days: number, from: string) =>
    new Date(Date.parse(from) + days * 24 * 60 * 60 * 1000).toISOString();

  test('work until revoked; only the first answer holds the secret', async () => {
    const ada = await service.user('guest');
    const answer = await create(ada, { name: 'nightly run', expires_in: 86_400 });
    expect(answer.status).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    const { token_id, created_at, access_token } = answer.json;
    expect(answer.json).toEqual({
      token_id: expect.any(String),
      name: 'nightly run',
      created_at: expect.any(String),
      expires_at: expiry(1, created_at),
      scope: null,
      budget: null,
      charged: null,
      access_token: expect.stringContaining(`${ada.user.user_id}.`),
      token_type: 'Bearer',
      expires_in: 86_400,
    });
    const script = { ...ada, token: access_token };
    expect(await statusOf(script)).toBe(200);

    const listed = await list(script);
    expect(listed.json).toEqual([
      {
        token_id,
        name: 'nightly run',
        created_at,
        expires_at: answer.json.expires_at,
        scope: null,
        budget: null,
        charged: null,
        current: true,
        program: null,
        address: '127.0.0.1',
      },
      expect.objectContaining({ name: null, current: false }),
    ]);
    expect(listed.text).not.toContain(access_token.split('.')[1]);

    const revoked = await revoke(ada, token_id);
    expect([revoked.status, revoked.json]).toEqual([200, { token_id }]);
    expect(await statusOf(script)).toBe(401);
    expect((await list(ada)).json).toHaveLength(1);
    expect((await revoke(ada, token_id)).status).toBe(404);
  });

  test('tell their owner which program asked for them, and from where', async () => {
    const ada = await service.user('viewer');
    await create(ada, { name: 'of the command' }, 'mps/0.1.0');
    await create(ada, { name: 'long' }, 'x'.repeat(1000));
    const [long, command, signIn] = (await list(ada)).json;

    expect(command).toMatchObject({ program: 'mps/0.1.0', address: '127.0.0.1' });
    expect(long.program).toHaveLength(256);
    expect(signIn).toMatchObject({ program: null });
  });

  test('take a form, live for 90 days unless told, and name every fault', async () => {
    const ada = await service.user('viewer');
    const made = await service.call(createNamedToken, { ...form({ name: 'by form' }), as: ada });
    expect(made.json.expires_at).toBe(expiry(90, made.json.created_at));
    const faulty = await create(ada, { name: ' ', expires_in: 1 });
    expect(faulty.status).toBe(400);
    expect(faulty.json.errors).toEqual([
      { in: 'body', name: 'name', message: 'is blank' },
      { in: 'body', name: 'expires_in', message: 'must be a whole number from 60 to 31536000' },
    ]);
    expect((await create(ada, {})).status).toBe(400);
    expect((await service.call(createNamedToken, json({ name: 'x' }))).status).toBe(401);
  });

  test("nobody revokes or sees another's", async () => {
    const [ada, admin] = await Promise.all([service.user('developer'), service.user('admin')]);
    const { token_id, access_token } = (await create(ada, { name: 'mine' })).json;
    expect((await revoke(admin, token_id)).status).toBe(404);
    expect(await statusOf({ ...ada, token: access_token })).toBe(200);
    expect((await list(admin)).json).toHaveLength(1);
    expect((await service.call(listTokens)).status).toBe(401);
    expect((await service.call(revokeToken, { path: { token_id } })).status).toBe(401);
    expect((await revoke(ada, 'nonsense')).status).toBe(400);
  });

  test('a sign-in can be revoked from another, and sign-out takes it off the list', async () => {
    const ada = await service.user('guest');
    const script = { ...ada, token: (await create(ada, { name: 'x' })).json.access_token };
    const signIn = (await list(script)).json.find((one: { current: boolean }) => !one.current);
    expect((await revoke(script, signIn.token_id)).status).toBe(200);
    expect(await statusOf(ada)).toBe(401);
    expect((await service.call(deleteToken, { as: script })).status).toBe(200);
    const items = await service.accounts.query({ pk: `USER#${ada.user.user_id}`, prefix: 'TOKEN' });
    expect(items.items).toEqual([]);
  });

  test('die and leave the list with a change of the password', async () => {
    const ada = await service.user('guest');
    const script = { ...ada, token: (await create(ada, { name: 'x' })).json.access_token };
    const changed = await changeUser(service.accounts, ada.user, (user) =>
      setPassword(service.accounts, user, 'no hash', new Date().toISOString()),
    );
    expect([await statusOf(script), await statusOf(ada)]).toEqual([401, 401]);
    const stale = { token_id: ulid().toLowerCase(), now: new Date(), seconds: 60, name: 'late' };
    await expect(issueNamedToken(service.accounts, ada.user, stale)).rejects.toThrow(ConditionFailedError);
    const issued = await issueNamedToken(service.accounts, changed, { ...stale, name: 'new' });
    const again = { ...ada, token: issued?.bearer ?? '' };
    expect((await list(again)).json).toEqual([expect.objectContaining({ name: 'new', current: true })]);
  });

  test('an expired one does not work and is not listed', async () => {
    const ada = await service.user('guest');
    const past = { token_id: ulid().toLowerCase(), now: new Date(0), seconds: 60, name: 'old' };
    const issued = await issueNamedToken(service.accounts, ada.user, past);
    expect(await statusOf({ ...ada, token: issued?.bearer ?? '' })).toBe(401);
    expect((await list(ada)).json).toEqual([expect.objectContaining({ name: null })]);
  });

  test('there are at most fifty, also of many made at once; dead ones make room', async () => {
    const ada = await service.user('guest');
    const issue = (now: Date) =>
      issueNamedToken(service.accounts, ada.user, {
        token_id: ulid().toLowerCase(),
        now,
        seconds: 3600,
        name: 'one of many',
      });
    for (let n = 0; n < maxNamedTokens - 5; n += 1) await issue(n === 0 ? new Date(0) : new Date());
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(ada, { name: 'more' })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.every((status) => status === 201 || status === 409)).toBe(true);
    for (let n = 0; n < 10; n += 1) await create(ada, { name: 'rest' });
    const page = await list(ada, 'limit=1000');
    const named = page.json.filter(({ name }: { name: string | null }) => name !== null);
    expect(named).toHaveLength(maxNamedTokens);
    const full = await create(ada, { name: 'too many' });
    expect(full.status).toBe(409);
    expect(full.json.detail).toContain('50 tokens');
    await revoke(ada, named[0].token_id);
    expect((await create(ada, { name: 'fits again' })).status).toBe(201);
    expect((await create(ada, { name: 'too many' })).status).toBe(409);
  });

  test('are listed in pages', async () => {
    const ada = await service.user('guest');
    for (const name of ['a', 'b', 'c', 'd']) await create(ada, { name });
    const names: (string | null)[] = [];
    let query = 'limit=2';
    for (;;) {
      const page = await list(ada, query);
      names.push(...page.json.map(({ name }: { name: string | null }) => name));
      const next = /<\?(.+)>/.exec(page.headers['link'] ?? '')?.[1];
      if (next === undefined) break;
      query = next;
    }
    expect(names.toSorted()).toEqual(['a', 'b', 'c', 'd', null]);
    expect(new Set(names).size).toBe(5);
  });
});
