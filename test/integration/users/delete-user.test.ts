import { ulid } from 'ulid';
import { beforeEach, describe, expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { endpoint as checkUsername } from '../../../functions/users/check-username.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { endpoint as readUser } from '../../../functions/users/read-user.endpoint.ts';
import { objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { changeUser, removeUser } from '../../../shared/data/accounts/change-user.ts';
import { listClosedAccounts } from '../../../shared/data/accounts/closed-account.ts';
import { picturesPrefix } from '../../../shared/data/accounts/picture.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import { findUser, readPopulation, usernameKey, userPartition } from '../../../shared/data/accounts/user.ts';
import { requireCompression } from '../../../shared/data/models/compression.ts';
import { projectKey } from '../../../shared/data/projects/project.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { clearAccount } from '../../../shared/purge/clear-account.ts';
import { recordedCompression } from '../../support/compression.ts';
import { testBucket } from '../../support/emulators.ts';
import { type Call, type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { form, json } from './body.ts';

const hour = 60 * 60 * 1000;

describe('deleting users', () => {
  let service: TestService;
  let admin: TestUser;
  beforeEach(async () => {
    service = await testService();
    admin = await service.user('admin', 'admin');
  });

  const remove = (username: string, as = admin) => service.call(deleteUser, { query: { username }, as });
  const project = async (project_id: string) =>
    (await service.call(readProject, { path: { project_id }, as: admin })).json;
  const closedAccounts = async () => (await listClosedAccounts(service.accounts, undefined)).items;
  const leftOf = async ({ user }: TestUser) =>
    (await service.accounts.query({ pk: userPartition(user.user_id) })).items.length;

  test.each([
    ['is of a later release', { schema_version: 99 }],
    ['names nobody', { user_id: 7 }],
    ['is of another kind', { record_type: 'nickname' }],
  ])('whose name is a record that %s removes them with it', async (_, damage) => {
    const ada = await service.user('developer', 'ada');
    for (const name of ['before', 'between', 'after']) await service.user('viewer', name);
    const stored = await service.accounts.get(usernameKey('ada'));
    await service.accounts.write({ put: { ...stored!, ...damage } });
    const answer = await remove('ada');
    expect([answer.status, answer.json.user_id]).toEqual([200, ada.user.user_id]);
    expect(await service.accounts.get(usernameKey('ada'))).toBeUndefined();
    expect(await findUser(service.accounts, ada.user.user_id)).toBeUndefined();
    expect(await readPopulation(service.accounts)).toEqual({ users: 4, admins: 1 });
    expect((await service.user('viewer', 'ada')).user.user_id).not.toBe(ada.user.user_id);
  });

  test.each<[string, Call]>([
    ['the query', { query: { username: 'Ada' } }],
    ['JSON', json({ username: 'Ada' })],
    ['a form', form({ username: 'Ada' })],
  ])('by %s signs them out, and frees the name', async (_, call) => {
    const ada = await service.user('developer', 'ada');
    const answer = await service.call(deleteUser, { ...call, as: admin });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ user_id: ada.user.user_id, username: 'ada' });
    expect((await service.call(readOwnAccount, { as: ada })).status).toBe(401);
    expect((await service.call(readUser, { path: { username: 'ada' }, as: admin })).status).toBe(404);
    const checked = await service.call(checkUsername, { path: { username: 'ada' }, as: admin });
    expect(checked.json.available).toBe(true);
    expect(await leftOf(ada)).toBe(0);
    expect(await readPopulation(service.accounts)).toEqual({ users: 1, admins: 1 });
  });

  test('is for admins; blank is 400, unknown 404, a stale If-Match 412', async () => {
    const developer = await service.user('developer', 'dev');
    expect((await service.call(deleteUser, { query: { username: 'dev' } })).status).toBe(401);
    expect((await remove('dev', developer)).status).toBe(403);
    const blank = await remove('');
    expect(blank.status).toBe(400);
    expect(blank.json.errors).toEqual([{ in: 'query', name: 'username', message: 'is blank' }]);
    expect((await service.call(deleteUser, { as: admin })).status).toBe(400);
    expect((await remove('nobody')).status).toBe(404);
    const headers = { 'If-Match': '"9-stale"' };
    const stale = await service.call(deleteUser, { query: { username: 'dev' }, as: admin, headers });
    expect(stale.status).toBe(412);
    expect((await service.call(readOwnAccount, { as: developer })).status).toBe(200);
  });

  test('their projects stay, with no owner, and who takes the name has no right to them', async () => {
    const ada = await service.user('developer', 'ada');
    const mary = await service.user('developer', 'mary');
    const theirs = await Promise.all(Array.from({ length: 30 }, () => newProject(service, ada)));
    const other = await newProject(service, mary);
    expect((await remove('ada')).status).toBe(200);
    const owners = await Promise.all(theirs.map(async (id) => (await project(id)).owner));
    expect(owners).toEqual(theirs.map(() => null));
    expect((await project(other)).owner).toBe('mary');

    const heir = await service.user('developer', 'ada');
    const path = { project_id: theirs[0] ?? '' };
    const rename = { path, ...json({ project_name: 'mine now' }) };
    expect((await service.call(updateProject, { ...rename, as: heir })).status).toBe(403);
    expect((await service.call(updateProject, { ...rename, as: admin })).status).toBe(200);
    expect(await project(theirs[0] ?? '')).toMatchObject({ project_name: 'mine now', owner: null });
  });

  test('the last admin stays', async () => {
    const refused = await remove('admin');
    expect(refused.status).toBe(409);
    expect(refused.json.detail).toContain('last admin');
    await service.user('admin', 'second');
    expect((await remove('admin')).status).toBe(200);
    expect(await readPopulation(service.accounts)).toEqual({ users: 1, admins: 1 });
  });

  test('of two admins who delete each other at once exactly one survives', async () => {
    for (let round = 0; round < 5; round += 1) {
      const fresh = await testService();
      const [one, other] = await Promise.all([fresh.user('admin', 'one'), fresh.user('admin', 'other')]);
      const answers = await Promise.all([
        fresh.call(deleteUser, { query: { username: 'other' }, as: one }),
        fresh.call(deleteUser, { query: { username: 'one' }, as: other }),
      ]);
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses[0]).toBe(200);
      expect([401, 409]).toContain(statuses[1]);
      const left = await Promise.all([one, other].map(({ user }) => findUser(fresh.accounts, user.user_id)));
      expect(left.filter((user) => user !== undefined)).toHaveLength(1);
      expect(await readPopulation(fresh.accounts)).toEqual({ users: 1, admins: 1 });
    }
  });

  test('the last admin stays though both were read as one of two', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { accounts, user } = await testService();
      const admins = await Promise.all([user('admin'), user('admin')]);
      const [one, other] = await Promise.allSettled(
        admins.map((admin) =>
          changeUser(accounts, admin.user, (present) =>
            removeUser(accounts, present, new Date().toISOString()),
          ),
        ),
      );
      expect([one?.status, other?.status].sort()).toEqual(['fulfilled', 'rejected']);
      const refused = one?.status === 'rejected' ? one : other;
      expect(refused).toMatchObject({ reason: { kind: 'conflict' } });
      expect(await readPopulation(accounts)).toEqual({ users: 1, admins: 1 });
    }
  });

  test('the last admin stays through several deletions at once', async () => {
    const second = await service.user('admin', 'second');
    const rivals = await Promise.all([
      remove('admin', second),
      remove('second'),
      remove('second'),
      remove('admin', second),
    ]);
    expect(rivals.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await readPopulation(service.accounts)).admins).toBe(1);
  });

  test('no token is issued to who was deleted meanwhile', async () => {
    const ada = await service.user('developer');
    await remove(ada.user.username);
    const grant = { token_id: ulid().toLowerCase(), now: new Date(), seconds: 60, name: null };
    await expect(issueToken(service.accounts, ada.user, grant)).rejects.toThrow(ConditionFailedError);
  });

  describe('after a crash right behind the delete', () => {
    let ada: TestUser;
    let projects: string[];

    beforeEach(async () => {
      ada = await service.user('developer', 'ada');
      projects = await Promise.all([1, 2, 3].map(() => newProject(service, ada)));
      await changeUser(service.accounts, ada.user, (user) =>
        removeUser(service.accounts, user, new Date().toISOString()),
      );
    });

    test('nothing of theirs can be used', async () => {
      expect((await service.call(readOwnAccount, { as: ada })).status).toBe(401);
      expect(await leftOf(ada)).toBe(2);
      const heir = await service.user('developer', 'ada');
      expect((await service.call(readOwnAccount, { as: heir })).json.user_id).toBe(heir.user.user_id);
      expect((await service.call(readOwnAccount, { as: ada })).status).toBe(401);
    });

    test('the purge event clears up: tokens, pictures, the name on projects', async () => {
      const objects = objectWriter(s3(service.environment), testBucket);
      const prefix = picturesPrefix(ada.user.user_id);
      await objects.put(`${prefix}512.webp`, Buffer.of(1), 'image/webp');
      await taskHandler(purge, service.environment)(undefined);
      expect(await leftOf(ada)).toBe(0);
      expect((await objects.list(prefix, undefined)).objects).toEqual([]);
      expect(await Promise.all(projects.map(async (id) => (await project(id)).owner))).toEqual([
        null,
        null,
        null,
      ]);
    });

    test('and the name on strategies, which stay theirs by nothing but an id', async () => {
      const bob = await service.user('developer', 'bob');
      const own = await Promise.all(
        (['prune', 'quantize'] as const).map((kind) => recordedCompression(service, ada, kind)),
      );
      const other = await recordedCompression(service, bob, 'prune');
      await taskHandler(purge, service.environment)(undefined);
      const owners = [...own, other].map(
        async ({ kind, strategy_id }) => (await requireCompression(service.records, kind, strategy_id)).owner,
      );
      expect(await Promise.all(owners)).toEqual([null, null, 'bob']);
    });

    test('it goes on wherever time ran out, however often', async () => {
      const [closed] = await closedAccounts();
      if (closed === undefined) throw new Error('nothing is on record');
      const run = (times: number) => {
        let left = times;
        return clearAccount(service, closed, () => left-- > 0, new Date());
      };
      expect(await run(0)).toBe(false);
      expect(await run(2)).toBe(false);
      expect((await Promise.all(projects.map(project))).filter(({ owner }) => owner === null)).toHaveLength(
        2,
      );
      expect(await run(1)).toBe(false);
      expect(await leftOf(ada)).toBe(2);
      expect(await run(10)).toBe(true);
      expect(await leftOf(ada)).toBe(0);
      expect(await Promise.all([run(10), run(10), run(10)])).toEqual([true, true, true]);
    });

    test('it looks again for what a late request made, and forgets only then', async () => {
      const [closed] = await closedAccounts();
      if (closed === undefined) throw new Error('nothing is on record');
      const clear = (at: number) => clearAccount(service, closed, () => true, new Date(at));
      const closedAt = Date.parse(closed.closed_at);
      await clear(closedAt + 1000);
      expect(await closedAccounts()).toEqual([closed]);
      const late = await service.user('developer');
      const late_id = await newProject(service, {
        ...late,
        user: { ...late.user, username: 'ada' },
      });
      await service.records.write({
        put: {
          pk: `OWNED#${ada.user.user_id}`,
          sk: late_id,
          record_type: 'owned',
          schema_version: 0,
        },
      });
      await service.records.write({
        update: projectKey(late_id),
        change: { set: { owner_id: ada.user.user_id } },
      });
      await clear(closedAt + hour);
      expect((await project(late_id)).owner).toBeNull();
      expect(await closedAccounts()).toEqual([]);
    });
  });
});
