import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as createUser } from '../../../functions/users/create-user.endpoint.ts';
import { endpoint as listUsers } from '../../../functions/users/list-users.endpoint.ts';
import { readPopulation } from '../../../shared/data/accounts/user.ts';
import { type Call, type TestService, type TestUser, testService } from '../../support/service.ts';
import { form, json } from './body.ts';

const password = 'a fine long password';

describe('creating users', () => {
  let service: TestService;
  let admin: TestUser;
  beforeAll(async () => {
    service = await testService();
    admin = await service.user('admin');
  });

  const create = (call: Call) => service.call(createUser, { as: admin, ...call });

  test('answers the user, who can sign in', async () => {
    const answer = await create(json({ username: 'Ada.Lovelace', account_type: 'developer', password }));
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      user_id: expect.stringMatching(/^[0-7][0-9a-z]{25}$/),
      username: 'ada.lovelace',
      account_type: 'developer',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/),
    });
    const signIn = json({ grant_type: 'password', username: 'ada.lovelace', password });
    expect((await service.call(createToken, signIn)).json).toMatchObject({
      account_type: 'developer',
      user_id: answer.json.user_id,
    });
  });

  test.each<[string, Call]>([
    ['all as a form', form({ username: 'form', account_type: 'guest', password })],
    ['all as JSON', json({ username: 'json', account_type: 'guest', password })],
    [
      'all but the password in the query',
      { ...json({ password }), query: { username: 'query', account_type: 'guest' } },
    ],
    ['a part in either', { ...form({ password, account_type: 'guest' }), query: { username: 'either' } }],
  ])('takes %s', async (_, call) => {
    expect((await create(call)).status).toBe(201);
  });

  test.each(['iso-8859-1', 'utf-16', '"latin1"', 'x'])('%s is no charset for fields', async (charset) => {
    for (const call of [
      json({ username: 'cs', account_type: 'guest', password }),
      form({ username: 'cs' }),
    ]) {
      const type = `${call.headers?.['Content-Type']}; charset=${charset}`;
      const answer = await create({ ...call, headers: { 'Content-Type': type } });
      expect([answer.status, answer.json.detail]).toEqual([415, expect.stringContaining('send UTF-8')]);
    }
  });

  test.each(['utf-8', 'UTF8', '"UTF-8"'])('%s is', async (charset) => {
    const call = json({
      username: `cs-${charset.length}`,
      account_type: 'guest',
      password,
    });
    const type = `application/json; charset=${charset}`;
    expect((await create({ ...call, headers: { 'Content-Type': type } })).status).toBe(201);
  });

  test('a form that is not UTF-8 is refused, naming the parameter', async () => {
    const call = form({ username: 'bytes', account_type: 'guest', password });
    const answer = await create({
      ...call,
      body: 'username=a%ff&account_type=guest&password=%ED%A0%80aaaaaaaa',
    });
    expect(answer.status).toBe(400);
    const message = 'is not UTF-8 in percent-encoding';
    expect(answer.json.errors).toEqual([
      { in: 'body', name: 'username', message },
      { in: 'body', name: 'password', message },
    ]);
  });

  test('a password in the query is refused, and not repeated', async () => {
    const answer = await create({
      query: { username: 'eve', account_type: 'guest', password: 'hunter-2-hunter' },
    });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      { in: 'query', name: 'password', message: expect.stringContaining('send it as JSON or form') },
      { in: 'body', name: 'password', message: 'is required' },
    ]);
    expect(answer.text).not.toContain('hunter');
  });

  test('a password that is the name of the user is refused', async () => {
    const answer = await create(json({ username: 'eve', account_type: 'guest', password: 'EveEveEve!' }));
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      { in: 'body', name: 'password', message: "is made of the user's or the service's name alone" },
    ]);
  });

  test('what is blank is named, each once and in its place', async () => {
    const inBody = await create(json({ username: '', account_type: '', password: '' }));
    expect(inBody.status).toBe(400);
    expect(inBody.json.errors).toEqual([
      { in: 'body', name: 'username', message: 'is blank' },
      { in: 'body', name: 'account_type', message: expect.stringContaining('must be one of guest') },
      { in: 'body', name: 'password', message: 'is blank' },
    ]);
    const inQuery = await create({ query: 'username=&account_type=', ...json({ password }) });
    expect(inQuery.json.errors).toEqual([
      { in: 'query', name: 'username', message: 'is blank' },
      expect.objectContaining({ in: 'query', name: 'account_type' }),
    ]);
  });

  test('what is missing is looked for where the rest is', async () => {
    const required = (place: string, name: string) => ({ in: place, name, message: 'is required' });
    expect((await create({})).json.errors).toEqual([
      required('query', 'username'),
      required('query', 'account_type'),
      required('body', 'password'),
    ]);
    expect((await create(json({ account_type: 'guest' }))).json.errors).toEqual([
      required('body', 'username'),
      required('body', 'password'),
    ]);
  });

  test.each<[string, Call, object]>([
    [
      'in the query and in the body',
      { query: { username: 'two' }, ...json({ username: 'two', account_type: 'guest', password }) },
      { in: 'query', name: 'username', message: 'is given in the query and in the body; give it once' },
    ],
    [
      'twice in the query',
      { query: 'username=two&username=two', ...json({ account_type: 'guest', password }) },
      { in: 'query', name: 'username', message: 'is given 2 times; give it once' },
    ],
    [
      'twice in a form',
      { ...form({}), body: `username=two&username=three&account_type=guest&password=${password}` },
      { in: 'body', name: 'username', message: 'is given 2 times; give it once' },
    ],
    [
      'that it does not have in the query',
      { query: { colour: 'red' }, ...json({ username: 'two', account_type: 'guest', password }) },
      { in: 'query', name: 'colour', message: expect.stringContaining('allowed are username, account_type') },
    ],
    [
      'that it does not have in the body',
      json({ username: 'two', account_type: 'guest', password, colour: 'red' }),
      { in: 'body', name: 'colour', message: expect.stringContaining('allowed are password, username') },
    ],
  ])('refuses a parameter %s', async (_, call, fault) => {
    const answer = await create(call);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([fault]);
  });

  test.each(['check', 'ME', '.ada', 'ada-', 'a b', 'ada#1', '../ada', 'ädä', 'a'.repeat(65), '__proto__'])(
    'refuses the name %s',
    async (username) => {
      const answer = await create(json({ username, account_type: 'guest', password }));
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([expect.objectContaining({ in: 'body', name: 'username' })]);
    },
  );

  test.each(['seven77', 'password1', 'x'.repeat(257)])('refuses bad password %#', async (bad) => {
    const answer = await create(json({ username: 'weak', account_type: 'guest', password: bad }));
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([expect.objectContaining({ in: 'body', name: 'password' })]);
    expect(answer.text).not.toContain(bad);
  });

  test('a name that is taken answers 409, whatever its case', async () => {
    const body = { account_type: 'guest', password };
    expect((await create(json({ ...body, username: 'grace' }))).status).toBe(201);
    const again = await create(json({ ...body, username: 'GRACE' }));
    expect(again.status).toBe(409);
    expect(again.json.detail).toBe('The user name grace is taken.');
  });

  test('of 20 simultaneous registrations of one name exactly one succeeds', async () => {
    const before = await readPopulation(service.accounts);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create(json({ username: 'only', account_type: 'guest', password }))),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...new Array<number>(19).fill(409)]);
    expect(await readPopulation(service.accounts)).toEqual({ ...before, users: before.users + 1 });
    const listed = await service.call(listUsers, { as: admin });
    expect(listed.json.filter((one: { username: string }) => one.username === 'only')).toHaveLength(1);
  });

  test('an Idempotency-Key makes one user of many requests', async () => {
    const call = json({ username: 'once', account_type: 'guest', password });
    const headers = { ...call.headers, 'Idempotency-Key': 'one' };
    const first = await create({ ...call, headers });
    const again = await create({ ...call, headers });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.json).toEqual(first.json);
  });

  describe('by others than admins', () => {
    const call = json({ username: 'self', account_type: 'guest', password });

    test('is refused while registration is closed', async () => {
      const anonymous = await service.call(createUser, call);
      expect(anonymous.status).toBe(401);
      expect(anonymous.headers['www-authenticate']).toBe('Bearer');
      const developer = await service.user('developer');
      expect((await service.call(createUser, { ...call, as: developer })).status).toBe(403);
    });

    test('is refused before anything is read or written, with an Idempotency-Key too', async () => {
      const keyed = { ...call, headers: { ...call.headers, 'Idempotency-Key': 'refused' } };
      const away = { ...service.environment, DYNAMODB_ENDPOINT: 'http://127.0.0.1:9', LOG_LEVEL: 'error' };
      expect((await service.call(createUser, { ...keyed, environment: away })).status).toBe(401);
      const { body } = json({ username: 'self', account_type: 'admin', password });
      const open = { ...away, REGISTRATION: 'open' };
      const refused = await service.call(createUser, { ...keyed, body: body ?? '', environment: open });
      expect(refused.status).toBe(403);
    });

    test('of 20 who register one name at once one gets it; some may be asked to come again', async () => {
      const open = await testService({ REGISTRATION: 'open' });
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => open.call(createUser, { ...call, sourceIp: `198.51.100.${n}` })),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 201)).toHaveLength(1);
      expect(statuses.every((status) => [201, 409, 503].includes(status))).toBe(true);
      expect(await readPopulation(open.accounts)).toEqual({ users: 1, admins: 0 });
    });

    test('of one address is slowed down after thirty, an admin never', async () => {
      const open = await testService({ REGISTRATION: 'open' });
      const register = (sourceIp: string, as?: TestUser) =>
        open.call(createUser, { ...call, sourceIp, ...(as && { as }) });
      const statuses: number[] = [];
      for (let n = 0; n < 31; n += 1) statuses.push((await register('198.51.100.1')).status);
      expect(statuses).toEqual([201, ...new Array<number>(30).fill(409)]);
      let slowed = await register('198.51.100.1');
      // The waits double, so that the slowest machine meets one.
      while (slowed.status === 409) slowed = await register('198.51.100.1');
      expect(slowed.status).toBe(429);
      expect(slowed.headers['retry-after']).toMatch(/^\d+$/);
      expect(slowed.json.detail).toContain('Too many accounts were registered from this address');
      expect((await register('198.51.100.2')).status).toBe(409);
      const admin = await open.user('admin');
      expect((await register('198.51.100.1', admin)).status).toBe(409);
    });

    test('makes guests where registration is open', async () => {
      const open = await testService({ REGISTRATION: 'open' });
      const created = await open.call(createUser, call);
      expect([created.status, created.json.account_type]).toEqual([201, 'guest']);
      for (const account_type of ['viewer', 'developer', 'admin']) {
        const refused = await open.call(createUser, json({ username: 'more', account_type, password }));
        expect(refused.status).toBe(403);
      }
    });
  });
});
