import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as createSession } from '../../../functions/auth/create-session.endpoint.ts';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as beginDevice } from '../../../functions/auth/oidc/begin-device-sign-in.endpoint.ts';
import { endpoint as finishSignIn } from '../../../functions/auth/oidc/finish-sign-in.endpoint.ts';
import { endpoint as linkAccount } from '../../../functions/auth/oidc/link-account.endpoint.ts';
import { endpoint as redeemSignIn } from '../../../functions/auth/oidc/redeem-sign-in.endpoint.ts';
import { endpoint as startSignIn } from '../../../functions/auth/oidc/start-sign-in.endpoint.ts';
import { endpoint as renewSession } from '../../../functions/auth/renew-session.endpoint.ts';
import { endpoint as changePassword } from '../../../functions/users/change-password.endpoint.ts';
import { endpoint as createUser } from '../../../functions/users/create-user.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { createFirstAdmin } from '../../../shared/accounts/first-admin.ts';
import { userKey } from '../../../shared/data/accounts/user.ts';
import { auditRecords } from '../../support/audit-records.ts';
import { type TestService, testService } from '../../support/service.ts';
import { sessionOf } from '../access/session-of.ts';
import { json } from '../users/body.ts';
import { serviceUrl, startPeopleIssuer } from './people-issuer.ts';

let issuer: Awaited<ReturnType<typeof startPeopleIssuer>>;
let service: TestService;
const groups = 'ml-admins=admin,ml=developer,everybody=viewer';
beforeAll(async () => {
  issuer = await startPeopleIssuer();
  service = await testService({ SERVICE_URL: serviceUrl, OIDC_ISSUER: issuer.url, OIDC_GROUPS: groups });
});
beforeEach(() => {
  issuer.isAway = false;
});
afterAll(() => issuer.close());

const host = { Host: '127.0.0.1:4321' };
/** A person of the issuer who is in these groups. */
function person(name: string, groupNames: readonly string[] = ['ml'], more: object = {}): string {
  issuer.people[name] = { preferred_username: name, groups: groupNames, ...more };
  return name;
}

const cookieOf = (answer: { headers: Record<string, string> }) =>
  answer.headers['set-cookie']?.split(';')[0] ?? '';

async function start() {
  const answer = await service.call(startSignIn, { headers: host });
  expect(answer.status).toBe(302);
  return { cookie: cookieOf(answer), location: answer.headers['location'] ?? '', answer };
}

const finish = (url: URL, cookie: string) =>
  service.call(finishSignIn, { query: url.search.slice(1), headers: { ...host, Cookie: cookie } });

/** Sign in as a browser does; return the headers of its session. */
async function enter(name: string) {
  const { cookie, location } = await start();
  const answer = await finish(await issuer.signIn(location, name), cookie);
  const [, pageKey = ''] = /#\/session\/(.+)$/.exec(answer.headers['location'] ?? '') ?? [];
  const session = {
    ...host,
    Cookie: cookieOf(answer),
    Authorization: `Session ${pageKey}`,
    'X-Requested-With': 'test',
  };
  return { answer, session };
}
const account = async (name: string) => {
  const { answer, session } = await enter(name);
  return { answer, session, ...(await service.call(readOwnAccount, { headers: session })) };
};
const outcome = ({ headers }: { headers: Record<string, string> }) =>
  headers['location']?.replace(serviceUrl, '');

describe('a person', () => {
  test('signs in at the issuer, and has an account of the type that their groups give', async () => {
    const { answer, status, json: own } = await account(person('ada', ['everybody', 'ml']));

    expect([status, own.username, own.account_type]).toEqual([200, 'ada', 'developer']);
    expect(outcome(answer)).toMatch(/^\/console#\/session\/[\w-]{43}$/);
    expect(answer.headers['set-cookie']).toMatch(/HttpOnly; SameSite=Strict/);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('has the same account at the next sign-in, whatever they are called by then', async () => {
    const first = await account(person('grace', ['ml'], { email: 'grace@example.org' }));
    person('grace', ['ml'], { preferred_username: 'hopper', email: 'hopper@example.org' });
    const second = await account('grace');

    expect(second.json.user_id).toBe(first.json.user_id);
    expect(second.json.username).toBe('grace');
  });

  test('never gets the account of somebody else who has their name or email address', async () => {
    const other = await service.user('admin', 'linus');
    const { json: own } = await account(
      person('sub-of-linus', ['everybody'], { preferred_username: 'Linus' }),
    );

    expect(own.user_id).not.toBe(other.user.user_id);
    expect([own.username, own.account_type]).toEqual(['linus-2', 'viewer']);
  });

  test.each([
    ['Zoë Ærlig', 'zoe-rlig'],
    ['../../etc', 'etc'],
    ['me', 'person'],
    ['🦊', 'person'],
    ['x'.repeat(200), 'x'.repeat(58)],
  ])('called %j has a name of the service', async (preferred_username, username) => {
    const { json: own } = await account(
      person(`sub-${username}-${preferred_username.length}`, ['ml'], { preferred_username }),
    );

    expect(own.username.replace(/-[2-9]$/, '')).toBe(username);
  });

  test('who is in no group gets no account, and one who has left all loses sessions and tokens', async () => {
    const none = await enter(person('stranger', ['sales']));
    const { session } = await enter(person('joan', ['ml']));
    const { json: made } = await service.call(createNamedToken, {
      ...json({ name: 'x' }),
      headers: { ...json({}).headers, ...session },
    });
    const use = () =>
      service.call(readOwnAccount, { headers: { Authorization: `Bearer ${made.access_token}` } });
    const before = await use();

    person('joan', ['sales']);
    const refused = await enter('joan');
    const after = [await use(), await service.call(readOwnAccount, { headers: session })];

    expect([outcome(none.answer), outcome(refused.answer)]).toEqual([
      '/console#/sign-in/no-access',
      '/console#/sign-in/no-access',
    ]);
    expect([before.status, ...after.map(({ status }) => status)]).toEqual([200, 401, 401]);
  });

  test('whose group changed has the new type from the next sign-in on, and no older session', async () => {
    const { session } = await enter(person('mary', ['everybody']));
    person('mary', ['ml-admins']);
    const { json: own } = await account('mary');

    expect(own.account_type).toBe('admin');
    expect((await service.call(readOwnAccount, { headers: session })).status).toBe(401);
  });

  test('is signed in for 12 hours, however often the session is used', async () => {
    const { session } = await enter(person('barbara'));
    const { json: renewed } = await service.call(renewSession, { headers: session });

    const hours = (Date.parse(renewed.expires_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
  });

  test('who has not signed in for 30 days has no tokens until they do', async () => {
    const { session, json: own } = await account(person('ruth'));
    const headers = { ...json({}).headers, ...session };
    const { json: made } = await service.call(createNamedToken, { ...json({ name: 'x' }), headers });
    const use = async () =>
      (await service.call(readOwnAccount, { headers: { Authorization: `Bearer ${made.access_token}` } }))
        .status;
    const statuses = [await use()];
    const { items } = await service.accounts.query({ pk: 'USERS' });
    const days =
      (Date.parse(String(items.find(({ sk }) => sk === own.user_id)?.['renew_by'])) - Date.now()) /
      86_400_000;

    const past = new Date(Date.now() - 1000).toISOString();
    await service.accounts.write({ update: userKey(own.user_id), change: { set: { renew_by: past } } });
    statuses.push(await use());
    await enter('ruth');
    statuses.push(await use());

    expect(statuses).toEqual([200, 401, 200]);
    expect(days).toBeGreaterThan(29);
    expect(days).toBeLessThanOrEqual(30);
  });

  test('has no password to change', async () => {
    const { session } = await account(person('frances'));
    const body = json({ password, current_password: password });
    const headers = { ...body.headers, ...session };

    const { status } = await service.call(changePassword, {
      ...body,
      headers,
      path: { username: 'frances' },
    });

    expect(status).toBe(409);
  });

  test('who was deleted gets a new account', async () => {
    const { json: first } = await account(person('radia'));
    const admin = await service.user('admin');
    await service.call(deleteUser, { query: { username: 'radia' }, as: admin });
    const { json: second } = await account('radia');

    expect(second.username).toBe('radia');
    expect(second.user_id).not.toBe(first.user_id);
  });

  test('who signs in twice at once has one account', async () => {
    const name = person('hedy');
    const [one, two] = await Promise.all([account(name), account(name)]);

    expect(one.json.user_id).toBe(two.json.user_id);
  });
});

describe('a sign-in', () => {
  test('asks for a code with PKCE, and keeps what belongs to it in a sealed cookie', async () => {
    const { answer, location, cookie } = await start();

    const { searchParams, origin } = new URL(location);
    expect(origin).toBe(issuer.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'mps',
      code_challenge_method: 'S256',
      redirect_uri: `${serviceUrl}/auth/oidc/callback`,
    });
    expect(answer.headers['set-cookie']).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    expect(cookie).not.toContain(searchParams.get('state'));
  });

  test('begins at the own address of the service', async () => {
    const answer = await service.call(startSignIn, { headers: { Host: 'localhost:4321' } });

    expect(answer.headers['location']).toBe(`${serviceUrl}/auth/oidc/start?at=own`);
  });

  test('in two tabs ends in both', async () => {
    const name = person('annie');
    const [one, two] = [await start(), await start()];
    const jar = `${one.cookie}; ${two.cookie}`;
    const second = await finish(await issuer.signIn(two.location, name), jar);
    const first = await finish(await issuer.signIn(one.location, name), jar);

    expect([first, second].map((answer) => outcome(answer)?.slice(0, 18))).toEqual([
      '/console#/session/',
      '/console#/session/',
    ]);
  });

  test('is begun again after the back button, without its cookie, with that of another, and after ten minutes', async () => {
    const name = person('alan');
    const one = await start();
    const back = await issuer.signIn(one.location, name);
    const first = await finish(back, one.cookie);
    const other = await start();

    const again = [
      await finish(back, one.cookie),
      await finish(await issuer.signIn((await start()).location, name), ''),
      await finish(await issuer.signIn((await start()).location, name), other.cookie),
      await finish(await issuer.signIn(other.location, name), `${other.cookie.slice(0, -4)}AAAA`),
      await finish(new URL(`${serviceUrl}/auth/oidc/callback`), other.cookie),
      await finish(new URL(`${serviceUrl}/auth/oidc/callback?error=access_denied&state=x`), other.cookie),
    ];

    expect(outcome(first)).toContain('/session/');
    expect(again.map(outcome)).toEqual(again.map(() => '/console#/sign-in/again'));
  });

  test('is refused with a code of another sign-in, and if the answer names another issuer', async () => {
    const name = person('tim');
    const [one, two] = [await start(), await start()];
    const [first, second] = [
      await issuer.signIn(one.location, name),
      await issuer.signIn(two.location, name),
    ];
    const mixed = new URL(first);
    mixed.searchParams.set('code', second.searchParams.get('code') ?? '');
    const foreign = new URL(second);
    foreign.searchParams.set('iss', 'https://other.example');

    const answers = [await finish(mixed, one.cookie), await finish(foreign, two.cookie)];

    expect(answers.map(outcome)).toEqual(answers.map(() => '/console#/sign-in/again'));
  });

  test('is told that the issuer is away, and goes on once it is back', async () => {
    const elsewhere = { ...service.environment, OIDC_ISSUER: 'http://127.0.0.1:1' };
    const begun = await start();
    const back = await issuer.signIn(begun.location, person('ken'));

    const away = await service.call(startSignIn, { headers: host, environment: elsewhere });
    issuer.isAway = true;
    const later = await finish(back, begun.cookie);
    issuer.isAway = false;
    const again = await finish(back, begun.cookie);

    expect([away.status, away.headers['retry-after']]).toEqual([503, '30']);
    expect([later.status, later.headers['retry-after']]).toEqual([503, '30']);
    expect(outcome(again)).toContain('/session/');
  });

  test('is nothing where the service has no issuer', async () => {
    const without = { ...service.environment, OIDC_ISSUER: undefined };

    const { status } = await service.call(startSignIn, { headers: host, environment: without });

    expect(status).toBe(404);
  });

  test('is kept for eight tabs, and a ninth takes the place of one', async () => {
    let jar = '';
    const names = new Set<string>();
    for (let tab = 0; tab < 12; tab += 1) {
      const cookie = cookieOf(await service.call(startSignIn, { headers: { ...host, Cookie: jar } }));
      names.add(cookie.split('=')[0] ?? '');
      jar = [...jar.split('; ').filter((one) => one.split('=')[0] !== cookie.split('=')[0]), cookie].join(
        '; ',
      );
    }

    expect(names.size).toBe(8);
  });
});

const password = 'a long sentence of the test';
const tokenOf = (username: string) => json({ grant_type: 'password', username, password });

describe('an account with a password', () => {
  test('is linked by its owner alone, while signed in, and only once', async () => {
    const owner = await service.user('developer', 'rosalind');
    const name = person('sub-of-rosalind', ['ml'], { preferred_username: 'franklin' });
    const link = async (as: typeof owner) => {
      const session = await sessionOf(service, as, host.Host);
      const begun = await service.call(linkAccount, { headers: { ...host, ...session } });
      return finish(await issuer.signIn(begun.json.location, name), cookieOf(begun));
    };

    const byToken = await service.call(linkAccount, { as: owner, headers: host });
    const linked = await link(owner);
    const taken = await link(await service.user('developer'));
    const { json: own } = await account(name);

    expect(byToken.status).toBe(409);
    expect([outcome(linked), outcome(taken)]).toEqual([
      '/console#/account?link=linked',
      '/console#/account?link=taken',
    ]);
    expect(own.user_id).toBe(owner.user.user_id);
  });

  test('signs in no more where passwords are for the first admin alone', async () => {
    const fresh = await testService({ OIDC_ISSUER: issuer.url });
    const only = { ...fresh.environment, OIDC_ONLY: 'yes' };
    await createFirstAdmin(fresh.accounts, password, new Date());
    const first = await fresh.call(createToken, tokenOf('admin'));
    const as = { Authorization: `Bearer ${first.json.access_token}`, 'Content-Type': 'application/json' };
    const another = JSON.stringify({ username: 'other', password, account_type: 'admin' });
    await fresh.call(createUser, { body: another, headers: as });
    const statuses: number[] = [];
    for (const username of ['admin', 'other'])
      statuses.push(
        (await fresh.call(createToken, { ...tokenOf(username), environment: only })).status,
        (await fresh.call(createSession, { ...json({ username, password }), environment: only })).status,
        (await fresh.call(createToken, tokenOf(username))).status,
      );

    expect(statuses).toEqual([200, 200, 200, 401, 401, 200]);
  });
});

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

describe('a device', () => {
  const ask = (device_code: string) =>
    service.call(redeemSignIn, json({ grant_type: deviceGrant, device_code }));

  test('gets a token of 12 hours once the person has confirmed its code', async () => {
    const name = person('margaret');
    const { json: begun } = await service.call(beginDevice);
    const before = await ask(begun.device_code);
    await issuer.confirm(begun.verification_uri_complete, name);
    const after = await ask(begun.device_code);
    const own = await service.call(readOwnAccount, {
      headers: { Authorization: `Bearer ${after.json.access_token}` },
    });
    const again = await ask(begun.device_code);

    expect([before.status, before.json.error]).toEqual([400, 'authorization_pending']);
    expect(after.json).toMatchObject({ username: 'margaret', account_type: 'developer', expires_in: 43_200 });
    expect([own.status, again.status]).toEqual([200, 401]);
  });

  test('gets nothing for a code that the issuer does not know', async () => {
    const { status } = await ask('nobody’s');

    expect(status).toBe(401);
  });
});

describe('a program on the machine of a person', () => {
  const verifier = 'v'.repeat(43);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const begin = (headers = {}) =>
    service.call(startSignIn, { query: { port: '4567', challenge }, headers: { ...host, ...headers } });
  const redeem = (code: string, code_verifier = verifier) =>
    service.call(redeemSignIn, json({ grant_type: 'authorization_code', code, code_verifier }));

  /** Sign somebody in in the browser that a program has opened; return the code that it brings. */
  async function codeOf(name: string): Promise<string> {
    const begun = await begin({ 'Sec-Fetch-Site': 'none' });
    const answer = await finish(await issuer.signIn(begun.headers['location'] ?? '', name), cookieOf(begun));
    const back = new URL(answer.headers['location'] ?? '');
    expect(back.origin).toBe('http://127.0.0.1:4567');
    return back.searchParams.get('code') ?? '';
  }

  test('gets a token of 12 hours, once, with its secret', async () => {
    const code = await codeOf(person('katherine'));

    const wrong = await redeem(code, 'w'.repeat(43));
    const right = await redeem(code);
    const again = await redeem(code);

    expect([wrong.status, again.status]).toEqual([401, 401]);
    expect(right.json).toMatchObject({
      username: 'katherine',
      account_type: 'developer',
      expires_in: 43_200,
    });
  });

  test('gets none with another text, or after the groups have changed', async () => {
    const code = await codeOf(person('dorothy', ['ml']));
    await enter(person('dorothy', ['everybody']));

    const answers = [await redeem(code), await redeem('none'), await redeem(`${code.slice(0, -4)}AAAA`)];

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  test('is not signed in by a page of others, nor without a challenge', async () => {
    const foreign = await begin({ 'Sec-Fetch-Site': 'cross-site' });
    const bare = await service.call(startSignIn, { query: { port: '4567' }, headers: host });

    expect(outcome(foreign)).toBe('/console#/sign-in/again');
    expect(bare.status).toBe(400);
  });
});

describe('the audit', () => {
  test('has one record of a sign-in, with the type that it gave', async () => {
    await enter(person('vera', ['everybody']));
    await enter(person('vera', ['ml']));
    await enter(person('vera', ['sales']));

    const own = (await auditRecords(service)).filter(({ username }) => username === 'vera');
    expect(own.map(({ operation, before, after }) => [operation, before, after])).toEqual([
      ['finishSignIn', null, '{"account_type":"viewer"}'],
      ['finishSignIn', '{"account_type":"viewer"}', '{"account_type":"developer"}'],
      ['finishSignIn', '{"account_type":"developer"}', '{"account_type":"guest"}'],
    ]);
  });
});
