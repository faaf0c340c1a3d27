import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as deleteToken } from '../../../functions/auth/delete-token.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as listMembers } from '../../../functions/projects/members/list-members.endpoint.ts';
import { endpoint as markDeleted } from '../../../functions/projects/projects/mark-project-deleted.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as restoreProject } from '../../../functions/projects/projects/restore-project.endpoint.ts';
import { endpoint as changeUserType } from '../../../functions/users/change-user-type.endpoint.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { userKey } from '../../../shared/data/accounts/user.ts';
import { memberKey } from '../../../shared/data/projects/member.ts';
import { projectKey } from '../../../shared/data/projects/project.ts';
import type { Key } from '../../../shared/data/table/table.ts';
import { holdRecency } from '../../support/hold-recency.ts';
import type { TestUser } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';
import { sharedProject } from '../projects/shared-project.ts';
import { json } from '../users/body.ts';

type Shared = Awaited<ReturnType<typeof sharedProject>>;

describe('what a process has read of a caller within a second', () => {
  let shared: Shared;
  let path: { project_id: string };
  beforeEach(async () => {
    shared = await sharedProject();
    path = { project_id: shared.project_id };
  });

  const list = async (as: TestUser) => (await shared.service.call(listExperiments, { as, path })).status;
  const change = async (as: TestUser) => (await shared.change(as)).status;
  const newUser = (type: 'developer' | 'viewer' = 'developer') => shared.service.user(type);
  /** Another process writes, of which this one is not told. */
  const elsewhere = {
    async delete(table: 'accounts' | 'records', { pk, sk }: Key): Promise<void> {
      await dynamoDb(shared.service.environment).send(
        new DeleteCommand({ TableName: nameOf(table), Key: { pk, sk } }),
      );
    },
    async set(table: 'accounts' | 'records', { pk, sk }: Key, name: string, value: unknown): Promise<void> {
      await dynamoDb(shared.service.environment).send(
        new UpdateCommand({
          TableName: nameOf(table),
          Key: { pk, sk },
          ExpressionAttributeNames: { '#name': name },
          ...(value === undefined
            ? { UpdateExpression: 'REMOVE #name' }
            : { UpdateExpression: 'SET #name = :value', ExpressionAttributeValues: { ':value': value } }),
        }),
      );
    },
  };
  const nameOf = (table: 'accounts' | 'records') =>
    shared.service.environment[table === 'accounts' ? 'ACCOUNTS_TABLE' : 'RECORDS_TABLE'];
  const tokenOf = async ({ user }: TestUser): Promise<Key> => {
    const { items } = await shared.service.accounts.query({ pk: `USER#${user.user_id}`, prefix: 'TOKEN#' });
    const { pk = '', sk = '' } = items[0] ?? {};
    return { pk, sk };
  };

  test('is not read again', async () => {
    holdRecency();
    const { service, olga } = shared;
    await list(olga);
    const before = await tableRequests(service, readProject, () =>
      service.call(readProject, { as: olga, path }),
    );

    const read = await tableRequests(service, listExperiments, () => list(olga));

    expect(before[0]).toEqual(['BatchGet records']);
    expect(read.flat().filter((request) => request.includes('accounts'))).toEqual([]);
  });

  test('ends with a revoked token, a removed user and another type, at the next request', async () => {
    holdRecency();
    const { service, root } = shared;
    const [revoked, removed, demoted] = [await newUser(), await newUser(), await newUser()];
    for (const one of [revoked, removed, demoted]) expect(await list(one)).toBe(200);

    expect((await service.call(deleteToken, { as: revoked })).status).toBe(200);
    expect((await shared.removeUser(removed.user.username)).status).toBe(200);
    const type = { path: { user_id: demoted.user.user_id }, query: { account_type: 'guest' } };
    expect((await service.call(changeUserType, { as: root, ...type })).status).toBe(200);

    expect([await list(revoked), await list(removed), await list(demoted)]).toEqual([401, 401, 401]);
  });

  test('ends with a role that is given or taken, at the next request', async () => {
    holdRecency();
    const { bob } = shared;
    const statuses: number[] = [];
    for (const role of ['developer', 'viewer', 'developer']) {
      await shared.share('bob', role);
      statuses.push(await change(bob));
    }
    await shared.unshare('bob');
    statuses.push(await change(bob));

    expect(statuses).toEqual([200, 403, 200, 403]);
  });

  test('ends with a mark of deletion and its removal, and with the project, at the next request', async () => {
    holdRecency();
    const { service, olga } = shared;
    expect(await change(olga)).toBe(200);
    expect((await service.call(markDeleted, { as: olga, path })).status).toBe(200);
    expect(await change(olga)).toBe(403);
    expect((await service.call(restoreProject, { as: olga, path })).status).toBe(200);
    expect(await change(olga)).toBe(200);

    const other = await sharedProject();
    const listOther = () =>
      other.service.call(listExperiments, { as: other.olga, path: { project_id: other.project_id } });
    expect((await listOther()).status).toBe(200);
    expect((await other.remove()).status).toBe(200);
    expect((await listOther()).status).toBe(404);
  });

  test('lasts a second where another process writes: a revoked token, a lost role, a deleted project', async () => {
    const { pass } = holdRecency();
    const [one, other] = [await newUser(), await newUser()];
    await shared.share(other.user.username, 'developer');
    expect([await list(one), await change(other)]).toEqual([200, 200]);

    await elsewhere.delete('accounts', await tokenOf(one));
    await elsewhere.delete('records', memberKey(path.project_id, other.user.user_id));
    expect([await list(one), await change(other)]).toEqual([200, 200]);
    pass();
    expect([await list(one), await change(other)]).toEqual([401, 403]);
  });

  test('admits nobody to a change of accounts or of the project itself', async () => {
    holdRecency();
    const { service } = shared;
    const [one, other] = [await newUser(), await newUser()];
    const make = (as: TestUser) => service.call(createNamedToken, { as, ...json({ name: 'ci' }) });
    const token = await tokenOf(one);
    expect((await make(one)).status).toBeLessThan(300);
    expect((await shared.handOver(other.user.username)).status).toBe(200);
    expect((await shared.share(one.user.username, 'viewer', other)).status).toBe(200);

    await elsewhere.delete('accounts', token);
    await elsewhere.set('records', projectKey(path.project_id), 'owner_id', shared.olga.user.user_id);

    expect((await make(one)).status).toBe(401);
    expect((await shared.share(one.user.username, 'developer', other)).status).toBe(403);
  });

  test('refuses nobody: what another process gives counts at once', async () => {
    const { pass } = holdRecency();
    const one = await newUser();
    await shared.share(one.user.username, 'viewer');
    expect(await change(one)).toBe(403);
    await elsewhere.set('records', memberKey(path.project_id, one.user.user_id), 'role', 'developer');
    expect(await change(one)).toBe(200);

    await elsewhere.set('records', projectKey(path.project_id), 'deleted_at', '2026-01-01T00:00:00.000Z');
    pass();
    expect(await change(one)).toBe(403);
    holdRecency();
    await elsewhere.set('records', projectKey(path.project_id), 'deleted_at', undefined);
    expect(await change(one)).toBe(200);
  });

  test('never answers for another user', async () => {
    holdRecency();
    const { service, root } = shared;
    const [member, stranger] = [await newUser(), await newUser()];
    await shared.share(member.user.username, 'developer');
    expect(await change(member)).toBe(200);
    expect(await change(stranger)).toBe(403);

    const mixed = { ...member, token: `${member.user.user_id}.${stranger.token.split('.')[1]}` };
    expect(await list(mixed)).toBe(401);
    expect((await service.call(listMembers, { as: root, path })).status).toBe(200);
    await elsewhere.set('accounts', userKey(member.user.user_id), 'credentials_version', 2);
    expect((await service.call(readProject, { as: mixed, path })).status).toBe(401);
  });
});
