import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as checkUsername } from '../../../functions/users/check-username.endpoint.ts';
import { endpoint as listUsers } from '../../../functions/users/list-users.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { endpoint as readUser } from '../../../functions/users/read-user.endpoint.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';

describe('reading users', () => {
  let service: TestService;
  let ada: TestUser;
  let guest: TestUser;
  let viewer: TestUser;
  beforeAll(async () => {
    service = await testService();
    ada = await service.user('developer', 'ada');
    guest = await service.user('guest', 'guest');
    viewer = await service.user('viewer', 'viewer');
  });

  const shown = ({ user: { user_id, username, account_type, created_at } }: TestUser) => ({
    user_id,
    username,
    account_type,
    created_at,
  });
  const read = (username: string, as?: TestUser) =>
    service.call(readUser, { path: { username }, ...(as && { as }) });

  test('lists all, newest first, in pages', async () => {
    const all = [viewer, guest, ada].map(shown);
    const byId = all.toSorted((one, other) => (one.user_id < other.user_id ? 1 : -1));
    const whole = await service.call(listUsers, { as: viewer });
    expect([whole.status, whole.json]).toEqual([200, byId]);
    const first = await service.call(listUsers, { as: viewer, query: { limit: '2' } });
    expect(first.json).toEqual(byId.slice(0, 2));
    const next = /<\?(.+)>; rel="next"/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    const second = await service.call(listUsers, { as: viewer, query: next });
    expect(second.json).toEqual(byId.slice(2));
  });

  test('the list is not for guests', async () => {
    expect((await service.call(listUsers)).status).toBe(401);
    expect((await service.call(listUsers, { as: guest })).status).toBe(403);
  });

  test('a viewer reads everybody, in any case, with an ETag', async () => {
    const answer = await read('ADA', viewer);
    expect([answer.status, answer.json]).toEqual([200, shown(ada)]);
    const etag = answer.headers['etag'] ?? '';
    const path = { username: 'ada' };
    const same = await service.call(readUser, { path, as: viewer, headers: { 'If-None-Match': etag } });
    expect(same.status).toBe(304);
    expect((await read('nobody', viewer)).status).toBe(404);
    expect((await read('no body', viewer)).status).toBe(400);
  });

  test('a guest reads only themselves, and learns nothing of others', async () => {
    expect((await read('guest', guest)).json).toEqual(shown(guest));
    const [known, unknown] = [await read('ada', guest), await read('nobody', guest)];
    expect([known.status, unknown.status]).toEqual([403, 403]);
    expect(known.json.detail).toBe(unknown.json.detail);
    expect((await read('guest')).status).toBe(401);
  });

  test('everybody reads their own account', async () => {
    for (const one of [ada, guest, viewer]) {
      const answer = await service.call(readOwnAccount, { as: one });
      expect([answer.status, answer.json]).toEqual([200, shown(one)]);
      expect(answer.headers['etag']).toBeDefined();
    }
    expect((await service.call(readOwnAccount)).status).toBe(401);
  });

  test.each([
    ['free', { username: 'free', available: true, reason: null }],
    ['FREE', { username: 'free', available: true, reason: null }],
    ['Ada', { username: 'ada', available: false, reason: 'is taken' }],
    ['check', { username: 'check', available: false, reason: 'is a reserved word' }],
    ['Me', { username: 'Me', available: false, reason: 'is a reserved word' }],
    ['-x', { username: '-x', available: false, reason: expect.stringContaining('must be 1 to 64 letters') }],
    ['a/../b', { username: 'a/../b', available: false, reason: expect.stringContaining('must be') }],
    ['x'.repeat(65), { available: false }],
  ])('says where registration is open whether %s is available', async (username, expected) => {
    const environment = { ...service.environment, REGISTRATION: 'open' };
    const answer = await service.call(checkUsername, { path: { username }, environment });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject(expected);
  });

  test('says nothing to those who may not register, of names that are there as of others', async () => {
    for (const username of ['ada', 'free', '-x']) {
      const stranger = await service.call(checkUsername, { path: { username } });
      const known = await service.call(checkUsername, { path: { username }, as: viewer });
      expect([stranger.status, stranger.json.detail]).toEqual([
        401,
        'Registration is closed here: only an admin may create users.',
      ]);
      expect([known.status, known.json.detail]).toEqual([403, 'Only an admin may create users.']);
    }
  });
});
