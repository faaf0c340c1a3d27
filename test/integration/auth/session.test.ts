import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createSession } from '../../../functions/auth/create-session.endpoint.ts';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as deleteSession } from '../../../functions/auth/delete-session.endpoint.ts';
import { endpoint as deleteSessions } from '../../../functions/auth/delete-sessions.endpoint.ts';
import { endpoint as deleteToken } from '../../../functions/auth/delete-token.endpoint.ts';
import { endpoint as listSessions } from '../../../functions/auth/list-sessions.endpoint.ts';
import { endpoint as renewSession } from '../../../functions/auth/renew-session.endpoint.ts';
import { endpoint as revokeSession } from '../../../functions/auth/revoke-session.endpoint.ts';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as changePassword } from '../../../functions/users/change-password.endpoint.ts';
import { endpoint as changeUserType } from '../../../functions/users/change-user-type.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import { hashPassword } from '../../../shared/accounts/password.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { authenticateSession, beginSession, extendSession } from '../../../shared/data/accounts/session.ts';
import { storedPassword, userPartition } from '../../../shared/data/accounts/user.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { type Answer, type TestService, type TestUser, testService } from '../../support/service.ts';
import { json } from '../users/body.ts';

const password = 'a long sentence nobody guesses';
const local = '127.0.0.1:3000';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const days = (count: number): Date => new Date(Date.now() + count * 24 * 60 * 60 * 1000);

/** What a browser keeps of a session. */
interface Kept {
  cookie: string;
  key: string;
}

let service: TestService;
let hash: string;
beforeAll(async () => {
  service = await testService();
  hash = await hashPassword(password);
});

async function newcomer(account_type: 'admin' | 'developer' = 'developer'): Promise<TestUser> {
  const made = await service.user(account_type);
  await service.accounts.write({ put: storedPassword(made.user.user_id, hash, made.user.created_at) });
  return made;
}

const signIn = (
  { user: { username } }: TestUser,
  headers: Record<string, string> = {},
  sourceIp = '198.51.100.1',
) => {
  const { body = '', headers: typed } = json({ username, password });
  const sent = { Host: local, 'User-Agent': firefox, ...typed, ...headers };
  return service.call(createSession, { body, headers: sent, sourceIp });
};

const keptOf = (answer: Answer): Kept => ({
  cookie: answer.headers['set-cookie']?.split(';')[0] ?? '',
  key: answer.json.page_key,
});

const enter = async (who: TestUser): Promise<Kept> => keptOf(await signIn(who));

const headersOf = ({ cookie, key }: Kept, more: Record<string, string> = {}) => ({
  Host: local,
  Cookie: cookie,
  Authorization: `Session ${key}`,
  ...more,
});

const own = { 'X-Requested-With': 'mps-console' };
const read = (kept: Kept) => service.call(listProjects, { headers: headersOf(kept) });

describe('signing in a browser', () => {
  test('sets a cookie that no script reads and no other site sends, and answers no token', async () => {
    const ada = await newcomer();
    const answer = await signIn(ada);
    expect(answer.status).toBe(200);
    expect(answer.headers['set-cookie']).toMatch(
      /^mps-session-3000=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    );
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json).toMatchObject({ username: ada.user.username, account_type: 'developer' });
    expect(answer.json).not.toHaveProperty('access_token');
    expect((await read(keptOf(answer))).status).toBe(200);
  });

  test.each([
    [
      'an API Gateway with a stage',
      { Host: 'abc.execute-api.eu-west-1.amazonaws.com', 'X-Forwarded-Proto': 'https' },
    ],
    ['a domain', { Host: 'ml.example.com', 'X-Forwarded-Proto': 'https' }],
    ['a proxy that says nothing', { Host: 'ml.example.com' }],
    ['a proxy that calls by the loopback address', { Host: local, 'X-Forwarded-Proto': 'https' }],
  ])('behind %s the cookie is for https and this host alone', async (_, headers) => {
    const answer = await signIn(await newcomer(), headers);
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-mps-session-[0-9a-f]{8}=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=2592000$/,
    );
    const kept = keptOf(answer);
    const seen = await service.call(readOwnAccount, { headers: headersOf(kept, headers) });
    expect(seen.status).toBe(200);
  });

  test.each(['localhost:3000', '[::1]:3000', 'mps.localhost:3000'])('%s is this machine', async (Host) => {
    expect((await signIn(await newcomer(), { Host })).headers['set-cookie']).toMatch(/^mps-session-3000=/);
  });

  test('two services on one machine do not take the session of each other', async () => {
    const other = await signIn(await newcomer(), { Host: '127.0.0.1:4000' });
    expect(other.headers['set-cookie']).toMatch(/^mps-session-4000=/);
  });

  test('a wrong password answers as for a token, and sets nothing', async () => {
    const { user } = await newcomer();
    const wrong = await service.call(createSession, json({ username: user.username, password: 'wrong one' }));
    expect([wrong.status, wrong.json.error]).toEqual([401, 'invalid_grant']);
    expect(wrong.headers).not.toHaveProperty('set-cookie');
  });

  test('a session that somebody put there before is not adopted', async () => {
    const attacker = await enter(await newcomer());
    const victim = await newcomer();
    const answer = await signIn(victim, { Cookie: attacker.cookie });
    const kept = keptOf(answer);
    expect(kept.cookie).not.toBe(attacker.cookie);
    expect((await read({ cookie: attacker.cookie, key: kept.key })).status).toBe(401);
    const seen = await service.call(readOwnAccount, { headers: headersOf(kept) });
    expect(seen.json.username).toBe(victim.user.username);
  });

  test('replaces the session that the browser had', async () => {
    const ada = await newcomer();
    const before = await enter(ada);
    const after = keptOf(await signIn(ada, headersOf(before)));
    expect((await read(before)).status).toBe(401);
    expect((await read(after)).status).toBe(200);
  });

  test('by a page of another origin is refused', async () => {
    const headers = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    expect((await signIn(await newcomer(), headers)).status).toBe(403);
  });
});

describe('a session', () => {
  test('needs both halves: neither cookie nor key is anything alone', async () => {
    const kept = await enter(await newcomer());
    const { Cookie, Authorization } = headersOf(kept);
    const ask = async (headers: Record<string, string>) =>
      (await service.call(listProjects, { headers: { Host: local, ...headers } })).status;
    expect(await ask({ Cookie })).toBe(401);
    expect(await ask({ Authorization })).toBe(401);
    expect(await ask({ Cookie, Authorization })).toBe(200);
    expect(await ask({ Cookie, Authorization: `Bearer ${kept.key}` })).toBe(401);
    expect(await ask({ Cookie, Authorization: `Bearer ${kept.cookie.split('=')[1]}` })).toBe(401);
  });

  test('is none where two cookies say which it is', async () => {
    const kept = await enter(await newcomer());
    const other = await enter(await newcomer());
    const both = { cookie: `${other.cookie}; ${kept.cookie}`, key: kept.key };
    expect((await read(both)).status).toBe(401);
    expect((await read({ ...kept, cookie: `theme=dark; ${kept.cookie}; lang=en` })).status).toBe(200);
  });

  test('gives way to a token that is sent as well', async () => {
    const [ada, grace] = [await newcomer(), await newcomer()];
    const { Cookie } = headersOf(await enter(ada));
    const seen = await service.call(readOwnAccount, { as: grace, headers: { Host: local, Cookie } });
    expect(seen.json.username).toBe(grace.user.username);
    const dead = { Host: local, Cookie, Authorization: `Bearer ${grace.user.user_id}.${'x'.repeat(43)}` };
    expect((await service.call(readOwnAccount, { headers: dead })).status).toBe(401);
  });

  test('writes only with the header of the page', async () => {
    const kept = await enter(await newcomer());
    const query = {
      'project-name': 'digits',
      'project-description': 'Reads digits',
      'project-type': 'vision',
      'project-task': 'classification',
    };
    const without = await service.call(createProject, { query, headers: headersOf(kept) });
    expect(without.status).toBe(403);
    expect(without.json.detail).toContain('X-Requested-With');
    const with_ = await service.call(createProject, { query, headers: headersOf(kept, own) });
    expect(with_.status).toBe(200);
  });

  test('is stored by a digest alone', async () => {
    const ada = await newcomer();
    const { cookie, key } = await enter(ada);
    const { items } = await service.accounts.query({ pk: userPartition(ada.user.user_id) });
    const stored = JSON.stringify(items);
    expect(stored).toContain('SESSION#');
    expect(stored).not.toContain(cookie.split('.').at(-1));
    expect(stored).not.toContain(key);
  });

  test.each([
    [
      'a change of password',
      async (ada: TestUser, admin: TestUser) =>
        service.call(changePassword, {
          as: admin,
          path: { username: ada.user.username },
          ...json({ password: 'another long sentence' }),
        }),
    ],
    [
      'another account type',
      async (ada: TestUser, admin: TestUser) =>
        service.call(changeUserType, {
          as: admin,
          path: { user_id: ada.user.user_id },
          query: { account_type: 'viewer' },
        }),
    ],
    [
      'the end of the account',
      async (ada: TestUser, admin: TestUser) =>
        service.call(deleteUser, { as: admin, query: { username: ada.user.username } }),
    ],
  ])('dies with %s', async (_, change) => {
    const [ada, admin] = [await newcomer(), await newcomer('admin')];
    const kept = await enter(ada);
    expect((await read(kept)).status).toBe(200);
    expect((await change(ada, admin)).status).toBe(200);
    expect((await read(kept)).status).toBe(401);
  });

  test.each([
    ['DELETE /auth/session', deleteSession],
    ['DELETE /auth/token', deleteToken],
  ])('is ended by %s, which the browser forgets', async (_, endpoint: AnyEndpoint) => {
    const kept = await enter(await newcomer());
    const out = await service.call(endpoint, { headers: headersOf(kept, own) });
    expect(out.status).toBe(200);
    if (endpoint === deleteSession)
      expect(out.headers['set-cookie']).toBe(
        'mps-session-3000=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
      );
    expect((await read(kept)).status).toBe(401);
  });

  test('outlives a restart of the process', async () => {
    const kept = await enter(await newcomer());
    // Another environment is another process on the same tables.
    const environment = { ...service.environment };
    expect((await service.call(listProjects, { headers: headersOf(kept), environment })).status).toBe(200);
  });
});

describe('thirty days', () => {
  const use = { user_agent: firefox, address: '198.51.100.1' };
  const secretsOf = ({ cookie, pageKey }: { cookie: string; pageKey: string }) => ({ cookie, pageKey });

  test('without a use end a session; a use begins them anew', async () => {
    const { user } = await newcomer();
    const { accounts } = service;
    const begun = await beginSession(accounts, user, { session_id: newId(), now: new Date(), use });
    const secrets = secretsOf(begun);
    expect(await authenticateSession(accounts, secrets, days(29.9))).toBeDefined();
    expect(await authenticateSession(accounts, secrets, days(30.1))).toBeUndefined();
    expect(await extendSession(accounts, begun.session, use, days(29))).toMatchObject({
      last_used_at: expect.stringMatching(/Z$/),
    });
    expect(await authenticateSession(accounts, secrets, days(58))).toBeDefined();
    expect(await authenticateSession(accounts, secrets, days(60))).toBeUndefined();
  });

  test('are noted at most every ten minutes, or from somewhere else', async () => {
    const { user } = await newcomer();
    let writes = 0;
    const accounts: TestService['accounts'] = {
      ...service.accounts,
      write: (...given) => {
        writes += 1;
        return service.accounts.write(...given);
      },
    };
    const { session } = await beginSession(accounts, user, { session_id: newId(), now: new Date(), use });
    const later = (minutes: number) => new Date(Date.now() + minutes * 60_000);
    writes = 0;
    for (const minutes of [1, 5, 9]) await extendSession(accounts, session, use, later(minutes));
    expect(writes).toBe(0);
    await extendSession(accounts, session, use, later(11));
    expect(writes).toBe(1);
    await extendSession(accounts, session, { ...use, address: '203.0.113.9' }, later(12));
    expect(writes).toBe(2);
  });

  test('begin anew in the browser too when the page is opened', async () => {
    const kept = await enter(await newcomer());
    const renewed = await service.call(renewSession, { headers: headersOf(kept, own) });
    expect(renewed.status).toBe(200);
    expect(renewed.headers['set-cookie']).toBe(
      `${kept.cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000`,
    );
  });

  test('are of a session, not of a token', async () => {
    expect((await service.call(renewSession, { as: await newcomer() })).status).toBe(409);
  });
});

describe('the list of sessions', () => {
  test('tells browser, address and last use, and which one is this', async () => {
    const ada = await newcomer();
    await signIn(ada, { 'User-Agent': 'curl/8' }, '203.0.113.9');
    const kept = await enter(ada);
    const { json: rows, text } = await service.call(listSessions, { headers: headersOf(kept) });
    expect(rows).toMatchObject([
      { browser: 'Firefox on Linux', address: '198.51.100.1', current: true },
      { browser: expect.any(String), address: '203.0.113.9', current: false },
    ]);
    expect(text).not.toContain(kept.key);
    expect(text).not.toContain('hash');
  });

  test('is where one of them is ended', async () => {
    const ada = await newcomer();
    const [there, here] = [await enter(ada), await enter(ada)];
    const { json: rows } = await service.call(listSessions, { headers: headersOf(here) });
    const other = rows.find((row: { current: boolean }) => !row.current);
    const path = { session_id: other.session_id };
    expect((await service.call(revokeSession, { path, headers: headersOf(here, own) })).status).toBe(200);
    expect((await service.call(revokeSession, { path, headers: headersOf(here, own) })).status).toBe(404);
    expect([(await read(there)).status, (await read(here)).status]).toEqual([401, 200]);
  });

  test('is ended as a whole by signing out everywhere; tokens stay', async () => {
    const ada = await newcomer();
    const kept = [await enter(ada), await enter(ada)];
    const [here] = kept as [Kept];
    const out = await service.call(deleteSessions, { headers: headersOf(here, own) });
    expect([out.status, out.json]).toEqual([200, { ended: 2 }]);
    for (const one of kept) expect((await read(one)).status).toBe(401);
    expect((await service.call(listProjects, { as: ada })).status).toBe(200);
  });

  test('holds fifty: the one that was not used for longest makes room', async () => {
    const ada = await newcomer();
    const { accounts } = service;
    const begin = (day: number) =>
      beginSession(accounts, ada.user, {
        session_id: newId(),
        now: days(day),
        use: { user_agent: firefox, address: '198.51.100.1' },
      });
    const oldest = await begin(-29);
    for (let count = 0; count < 49; count += 1) await begin(-1);
    await extendSession(accounts, oldest.session, { user_agent: firefox, address: 'x' }, new Date());
    await begin(0);
    const { json: rows } = await service.call(listSessions, { as: ada });
    expect(rows).toHaveLength(50);
    expect(rows.some((row: { session_id: string }) => row.session_id === oldest.session.session_id)).toBe(
      true,
    );
  });
});

describe('every operation', async () => {
  const loaded = await loadEndpoints(join(import.meta.dirname, '../../../functions'));
  const guarded = loaded.map(({ endpoint }) => endpoint).filter(({ allow }) => allow !== 'anyone');
  let kept: Kept;
  beforeAll(async () => {
    kept = await enter(await newcomer('admin'));
  });

  const pathOf = ({ path }: AnyEndpoint) =>
    Object.fromEntries([...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => [name, 'x']));

  test('is closed to a cookie alone, as a form or link of another page has it', async () => {
    const { Cookie } = headersOf(kept);
    for (const endpoint of guarded) {
      const answer = await service.call(endpoint, {
        path: pathOf(endpoint),
        headers: { Host: local, Cookie, ...own },
      });
      expect([endpoint.name, answer.status]).toEqual([endpoint.name, 401]);
    }
  });

  test('that writes is closed to a session without the header of the page', async () => {
    const writing = guarded.filter(({ method }) => method !== 'GET');
    expect(writing.length).toBeGreaterThan(40);
    for (const endpoint of writing) {
      const method = endpoint.method === 'ANY' ? { method: 'POST' as const } : {};
      const answer = await service.call(endpoint, {
        ...method,
        path: pathOf(endpoint),
        headers: headersOf(kept),
      });
      expect([endpoint.name, answer.status]).toEqual([endpoint.name, 403]);
      expect(answer.text).toContain('X-Requested-With');
    }
  });

  test('refuses a session that a page of another port of this host uses', async () => {
    const foreign = { Origin: 'http://127.0.0.1:8888', 'Sec-Fetch-Site': 'same-site' };
    for (const endpoint of guarded.filter(({ method }) => method !== 'GET')) {
      const method = endpoint.method === 'ANY' ? { method: 'POST' as const } : {};
      const headers = headersOf(kept, { ...own, ...foreign });
      const answer = await service.call(endpoint, { ...method, path: pathOf(endpoint), headers });
      expect([endpoint.name, answer.status]).toEqual([endpoint.name, 403]);
      expect(answer.text).toContain('page of another origin');
    }
  });

  test('is framed by nobody', async () => {
    for (const endpoint of guarded) {
      const { headers } = await service.call(endpoint, { path: pathOf(endpoint), headers: { Host: local } });
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    }
  });

  test('for everybody takes no notice of a session', async () => {
    const dead = { Host: local, Cookie: kept.cookie, Authorization: 'Session x' };
    const { headers = {}, body = '' } = json({ grant_type: 'password', username: 'nobody', password });
    const answer = await service.call(createToken, { body, headers: { ...dead, ...headers } });
    expect(answer.json.error).toBe('invalid_grant');
  });
});
