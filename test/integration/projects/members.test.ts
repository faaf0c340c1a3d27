import { beforeEach, describe, expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as deleteMember } from '../../../functions/projects/members/delete-member.endpoint.ts';
import { endpoint as listMembers } from '../../../functions/projects/members/list-members.endpoint.ts';
import { endpoint as putMember } from '../../../functions/projects/members/put-member.endpoint.ts';
import { endpoint as transferProject } from '../../../functions/projects/members/transfer-project.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import {
  type Member,
  maxMembers,
  membersPartition,
  putMember as put,
} from '../../../shared/data/projects/member.ts';
import {
  countersKey,
  ownedProjects,
  updateProject as rename,
  requireProject,
} from '../../../shared/data/projects/project.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { json as asJson } from '../users/body.ts';
import { newProject } from './new-project.ts';

let service: TestService;
let owner: TestUser;
let bob: TestUser;
let admin: TestUser;
let project_id: string;

beforeEach(async () => {
  service = await testService({ BATCH_ENDPOINT: 'http://127.0.0.1:9' });
  [owner, bob, admin] = await Promise.all([
    service.user('developer', 'olga'),
    service.user('developer', 'bob'),
    service.user('admin', 'root'),
  ]);
  project_id = await newProject(service, owner);
});

const share = (username: string, role: string, as = owner) =>
  service.call(putMember, { path: { project_id, username }, query: { role }, as });
const unshare = (username: string, as = owner) =>
  service.call(deleteMember, { path: { project_id, username }, as });
const handOver = (username: string, as = owner) =>
  service.call(transferProject, { path: { project_id }, query: { username }, as });
const members = async () => {
  const { json } = await service.call(listMembers, { path: { project_id }, as: admin });
  return json.map(({ username, role }: { username: string; role: string }) => `${username} ${role}`);
};
const store = (as: TestUser) =>
  service.call(putConfig, { path: { project_id, config_id: 'a.yaml' }, body: `a: "${Math.random()}"`, as });
const ownList = async (as: TestUser, query = '') => {
  const { json } = await service.call(listProjects, { query: `member=true${query}`, as });
  return json.map((one: { project_id: string }) => one.project_id);
};
const countOfMembers = async () => (await service.records.get(countersKey(project_id)))?.['members'] ?? 0;
const listRow = (user_id: string) => service.records.get({ pk: `OWNED#${user_id}`, sk: project_id });

describe('members of a project', () => {
  test('a developer may change what is in it until they are removed, and nothing that is the owner’s', async () => {
    expect((await store(bob)).status).toBe(403);
    const shared = await share('bob', 'developer');
    expect([shared.status, shared.json]).toEqual([
      200,
      { user_id: bob.user.user_id, username: 'bob', role: 'developer', added_at: expect.any(String) },
    ]);
    expect((await store(bob)).status).toBe(200);
    expect((await share('root', 'viewer', bob)).status).toBe(403);
    expect((await handOver('bob', bob)).status).toBe(403);
    expect((await service.call(deleteProject, { path: { project_id }, as: bob })).status).toBe(403);
    expect((await share('bob', 'viewer')).json).toMatchObject({
      role: 'viewer',
      added_at: shared.json.added_at,
    });
    expect((await store(bob)).status).toBe(403);
    expect((await share('bob', 'developer')).status).toBe(200);
    expect(await countOfMembers()).toBe(1);
    expect((await unshare('bob')).json).toMatchObject({ username: 'bob', role: 'developer' });
    expect((await store(bob)).status).toBe(403);
    expect([await members(), await countOfMembers()]).toEqual([['olga owner'], 0]);
  });

  test('the account type bounds what a role may do', async () => {
    const viewer = await service.user('viewer', 'vera');
    expect((await share('vera', 'developer')).status).toBe(200);
    const refused = await store(viewer);
    expect([refused.status, refused.json.detail]).toEqual([
      403,
      expect.stringContaining('of type developer'),
    ]);
    expect(await ownList(viewer)).toEqual([project_id]);
  });

  test('their own list holds what is theirs and what is shared with them, newest first, in pages', async () => {
    const own = await newProject(service, bob);
    const other = await newProject(service, owner);
    expect(await ownList(bob)).toEqual([own]);
    await share('bob', 'viewer');
    expect(await ownList(bob)).toEqual([own, project_id]);
    expect(await ownList(owner)).toEqual([other, project_id]);
    expect(await ownList(bob, '&limit=1')).toEqual([own]);
    const { headers } = await service.call(listProjects, { query: 'member=true&limit=1', as: bob });
    const cursor = /cursor=([^&>]+)/.exec(headers['link'] ?? '')?.[1];
    expect(await ownList(bob, `&limit=1&cursor=${cursor}`)).toEqual([project_id]);
    // A cursor of the list of all projects leads nowhere in this one.
    expect((await service.call(listProjects, { query: `cursor=${cursor}`, as: bob })).status).toBe(400);
    await unshare('bob');
    expect(await ownList(bob)).toEqual([own]);
  });

  test('says what is wrong with a request', async () => {
    const bad = await service.call(putMember, {
      path: { project_id, username: 'bob' },
      query: { role: 'owner', colour: 'red' },
      as: owner,
    });
    expect([bad.status, bad.json.errors]).toEqual([
      400,
      expect.arrayContaining([
        { in: 'query', name: 'role', message: 'must be viewer or developer' },
        expect.objectContaining({ name: 'colour' }),
      ]),
    ]);
    expect((await share('nobody', 'viewer')).json.detail).toBe('There is no user nobody.');
    expect((await unshare('bob')).json.detail).toBe('There is no member bob.');
    for (const refused of [await share('olga', 'viewer'), await unshare('olga')]) {
      expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('is the owner')]);
    }
  });

  test('are at most as many as a list of them is one read', async () => {
    const project = await requireProject(service.records, project_id);
    const member = (index: number): Member => ({
      project_id,
      user_id: `01h0000000000000000000${String(index).padStart(4, '0')}`,
      username: `user${index}`,
      role: 'viewer',
      added_at: project.created_at,
      version: 1,
    });
    for (let index = 0; index < maxMembers; index += 1)
      await put(service.records, project, member(index), undefined);
    const refused = await share('bob', 'viewer');
    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('has 100 members')]);
    // The former owner would be one more.
    expect((await handOver('bob')).status).toBe(409);
    expect(await members()).toHaveLength(maxMembers + 1);
  });
});

describe('handing a project over', () => {
  test('makes the former owner a developer', async () => {
    await share('bob', 'viewer');
    const answer = await handOver('bob');
    expect([answer.status, answer.json.owner, answer.json.owner_id]).toEqual([200, 'bob', bob.user.user_id]);
    expect(await members()).toEqual(['bob owner', 'olga developer']);
    expect(await countOfMembers()).toBe(1);
    expect((await store(owner)).status).toBe(200);
    expect((await unshare('bob')).status).toBe(403);
    expect((await unshare('olga', bob)).status).toBe(200);
    expect((await store(owner)).status).toBe(403);
    expect([await ownList(owner), await ownList(bob)]).toEqual([[], [project_id]]);
    expect((await handOver('bob', bob)).json.owner).toBe('bob');
  });

  test('takes an account that can own a project', async () => {
    await service.user('viewer', 'vera');
    const refused = await handOver('vera');
    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('of type viewer')]);
    expect((await handOver('nobody')).status).toBe(404);
  });

  test('is how an admin gives a project whose owner was deleted a new one', async () => {
    await service.call(deleteUser, { query: { username: 'olga' }, as: admin });
    expect((await handOver('bob', bob)).status).toBe(403);
    expect((await handOver('bob', admin)).json.owner).toBe('bob');
    expect([await members(), await countOfMembers()]).toEqual([['bob owner'], 0]);
  });

  test('ends the former owner’s right to delete, also of a delete that is on its way', async () => {
    const { records } = service;
    const project = await requireProject(records, project_id);
    await handOver('bob');
    const asked = service.call(deleteProject, {
      path: { project_id },
      headers: { 'If-Match': `"${project.version}-x"` },
      as: owner,
    });
    expect((await asked).status).toBe(403);
    // A change whose first attempt conflicts with a handover is checked anew.
    let checks = 0;
    const change = changeInProject(
      {
        project,
        async projectNow() {
          checks += 1;
          throw new Error('not theirs any more');
        },
      },
      (present) => rename(records, present, { project_name: 'x' }, new Date()),
    );
    await expect(change).rejects.toThrow('not theirs any more');
    expect(checks).toBe(1);
  });
});

describe('what is deleted leaves no membership behind', () => {
  test('a project', async () => {
    await share('bob', 'developer');
    expect((await service.call(deleteProject, { path: { project_id }, as: owner })).status).toBe(200);
    // Until the purge, a list shows no project that is gone.
    expect(await ownList(bob)).toEqual([]);
    expect(await listRow(bob.user.user_id)).toBeDefined();
    await taskHandler(purge, service.environment)(undefined);
    expect(await listRow(bob.user.user_id)).toBeUndefined();
    expect((await service.records.query({ pk: membersPartition(project_id) })).items).toEqual([]);
  });

  test('a user, also one who is made a member while they are deleted', async () => {
    await share('bob', 'developer');
    await service.call(deleteUser, { query: { username: 'bob' }, as: admin });
    expect([await members(), await countOfMembers()]).toEqual([['olga owner'], 0]);
    expect(await listRow(bob.user.user_id)).toBeUndefined();
    // As a request would that had read the account before.
    const { user_id, username } = bob.user;
    const late = { project_id, user_id, username, role: 'viewer' as const, added_at: '', version: 1 };
    const project = await requireProject(service.records, project_id);
    await put(service.records, project, { ...late, added_at: project.created_at }, undefined);
    await taskHandler(purge, service.environment)(undefined);
    expect([await members(), await countOfMembers()]).toEqual([['olga owner'], 0]);
    expect(await listRow(user_id)).toBeUndefined();
  });

  test('a user who was the owner, while the project is handed over', async () => {
    for (let round = 0; round < 5; round += 1) {
      const name = `o${round}`;
      const passing = await service.user('developer', name);
      await handOver(name, admin);
      await Promise.all([
        service.call(deleteUser, { query: { username: name }, as: admin }),
        handOver('bob', passing),
      ]);
      await taskHandler(purge, service.environment)(undefined);
      const row = await ownedProjects.list(service.records, passing.user.user_id, undefined);
      expect(row.items).toEqual([]);
      expect((await members()).filter((one: string) => one.startsWith(name))).toEqual([]);
    }
    const { owner: last } = (await service.call(readProject, { path: { project_id }, as: bob })).json;
    expect(['bob', null]).toContain(last);
    const { items } = await service.records.query({ pk: membersPartition(project_id) });
    expect(await countOfMembers()).toBe(items.length);
  });
});

test('a member who is removed at the same moment as they are made the owner stays the owner', async () => {
  for (let round = 0; round < 5; round += 1) {
    await share('bob', 'developer');
    const [handed] = await Promise.all([handOver('bob'), unshare('bob')]);
    expect(handed.status).toBe(200);
    expect(await members()).toEqual(['bob owner', 'olga developer']);
    expect(await countOfMembers()).toBe(1);
    expect((await handOver('olga', bob)).status).toBe(200);
    await unshare('bob');
  }
});

test('a role is taken from a form, too', async () => {
  const call = { path: { project_id, username: 'bob' }, ...asJson({ role: 'viewer' }), as: owner };
  expect((await service.call(putMember, call)).json.role).toBe('viewer');
  expect(
    (await service.call(updateProject, { path: { project_id }, ...asJson({ project_name: 'x' }), as: bob }))
      .status,
  ).toBe(403);
});
