import { beforeEach, describe, expect, test } from 'vitest';
import { endpoint as putMember } from '../../../functions/projects/members/put-member.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { maxMembers, membersPartition } from '../../../shared/data/projects/member.ts';
import {
  ownedProjects,
  updateProject as rename,
  requireProject,
} from '../../../shared/data/projects/project.ts';
import { json as asJson } from '../users/body.ts';
import { newProject } from './new-project.ts';
import { mostMembers, sharedProject } from './shared-project.ts';

let shared: Awaited<ReturnType<typeof sharedProject>>;

beforeEach(async () => {
  shared = await sharedProject();
});

describe('a developer of a project', () => {
  test('may change what is in it until they are removed', async () => {
    const { bob, share, unshare, change } = shared;
    const { status: before } = await change(bob);

    const answer = await share('bob', 'developer');

    expect(before).toBe(403);
    expect([answer.status, answer.json]).toEqual([
      200,
      { user_id: bob.user.user_id, username: 'bob', role: 'developer', added_at: expect.any(String) },
    ]);
    expect((await change(bob)).status).toBe(200);
    expect((await unshare('bob')).json).toMatchObject({ username: 'bob', role: 'developer' });
    expect((await change(bob)).status).toBe(403);
  });

  test('may do nothing that is the owner’s', async () => {
    const { bob, share, handOver, remove } = shared;
    await share('bob', 'developer');

    const refused = [await share('root', 'viewer', bob), await handOver('bob', bob), await remove(bob)];

    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
  });

  test('keeps the time at which they were added when their role changes', async () => {
    const { bob, share, change } = shared;
    const first = await share('bob', 'developer');

    const second = await share('bob', 'viewer');

    expect(second.json).toMatchObject({ role: 'viewer', added_at: first.json.added_at });
    expect((await change(bob)).status).toBe(403);
  });

  test('may change no more than their account type allows', async () => {
    const { service, project_id, share, change, projectsOf } = shared;
    const vera = await service.user('viewer', 'vera');
    const answer = await share('vera', 'developer');

    const refused = await change(vera);

    expect(answer.status).toBe(200);
    expect([refused.status, refused.json.detail]).toEqual([
      403,
      expect.stringContaining('of type developer'),
    ]);
    expect(await projectsOf(vera)).toEqual([project_id]);
  });
});

describe('the members of a project', () => {
  test('are counted once, however often their role changes', async () => {
    const { share, unshare, members, memberCount } = shared;

    for (const role of ['developer', 'viewer', 'developer']) await share('bob', role);

    expect(await memberCount()).toBe(1);
    await unshare('bob');
    expect([await members(), await memberCount()]).toEqual([['olga owner'], 0]);
  });

  test('are at most as many as one read of the list returns', async () => {
    const { addMember, share, handOver, members } = shared;
    for (const member of mostMembers()) await addMember(member);

    const refused = await share('bob', 'viewer');

    expect([refused.status, refused.json.detail]).toEqual([
      409,
      expect.stringContaining('has the maximum of 100 members'),
    ]);
    // The former owner would be one more.
    expect((await handOver('bob')).status).toBe(409);
    expect(await members()).toHaveLength(maxMembers + 1);
  });

  test('are refused with every fault of the request', async () => {
    const { service, project_id, olga, share, unshare } = shared;

    const query = { role: 'owner', colour: 'red' };
    const bad = await service.call(putMember, { path: { project_id, username: 'bob' }, query, as: olga });

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

  test('may also be given in JSON', async () => {
    const { service, project_id, olga, bob } = shared;

    const call = { path: { project_id, username: 'bob' }, ...asJson({ role: 'viewer' }), as: olga };
    const answer = await service.call(putMember, call);

    expect(answer.json.role).toBe('viewer');
    const renaming = { path: { project_id }, ...asJson({ project_name: 'x' }), as: bob };
    expect((await service.call(updateProject, renaming)).status).toBe(403);
  });
});

describe('the list of own projects', () => {
  test('has what a user owns and what is shared with them, newest first', async () => {
    const { service, olga, bob, project_id, share, unshare, projectsOf } = shared;
    const own = await newProject(service, bob);
    const other = await newProject(service, olga);
    const before = await projectsOf(bob);

    await share('bob', 'viewer');

    expect(before).toEqual([own]);
    expect(await projectsOf(bob)).toEqual([own, project_id]);
    expect(await projectsOf(olga)).toEqual([other, project_id]);
    await unshare('bob');
    expect(await projectsOf(bob)).toEqual([own]);
  });

  test('has pages, whose cursors are of no other list', async () => {
    const { service, bob, project_id, share, projectsOf } = shared;
    const own = await newProject(service, bob);
    await share('bob', 'viewer');

    const { headers } = await service.call(listProjects, { query: 'member=true&limit=1', as: bob });

    const cursor = /cursor=([^&>]+)/.exec(headers['link'] ?? '')?.[1];
    expect(await projectsOf(bob, '&limit=1')).toEqual([own]);
    expect(await projectsOf(bob, `&limit=1&cursor=${cursor}`)).toEqual([project_id]);
    expect((await service.call(listProjects, { query: `cursor=${cursor}`, as: bob })).status).toBe(400);
  });
});

describe('handing a project over', () => {
  test('makes the former owner a developer, whom the new one may remove', async () => {
    const { olga, bob, share, unshare, handOver, change, members, memberCount } = shared;
    await share('bob', 'viewer');

    const answer = await handOver('bob');

    expect([answer.status, answer.json.owner, answer.json.owner_id]).toEqual([200, 'bob', bob.user.user_id]);
    expect([await members(), await memberCount()]).toEqual([['bob owner', 'olga developer'], 1]);
    expect((await change(olga)).status).toBe(200);
    expect((await unshare('bob')).status).toBe(403);
    expect((await unshare('olga', bob)).status).toBe(200);
    expect((await change(olga)).status).toBe(403);
  });

  test('moves it to the list of the new owner, and can be repeated', async () => {
    const { olga, bob, project_id, handOver, unshare, projectsOf } = shared;
    await handOver('bob');
    await unshare('olga', bob);

    const again = await handOver('bob', bob);

    expect(again.json.owner).toBe('bob');
    expect([await projectsOf(olga), await projectsOf(bob)]).toEqual([[], [project_id]]);
  });

  test('takes an account that can own a project', async () => {
    const { service, handOver } = shared;
    await service.user('viewer', 'vera');

    const refused = await handOver('vera');

    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('of type viewer')]);
    expect((await handOver('nobody')).status).toBe(404);
  });

  test('is how an admin gives a project whose owner was deleted a new one', async () => {
    const { bob, root, removeUser, handOver, members, memberCount } = shared;
    await removeUser('olga');
    const byBob = await handOver('bob', bob);

    const byRoot = await handOver('bob', root);

    expect([byBob.status, byRoot.json.owner]).toEqual([403, 'bob']);
    expect([await members(), await memberCount()]).toEqual([['bob owner'], 0]);
  });

  test('ends the former owner’s right to delete, also of a delete that is on its way', async () => {
    const { service, olga, project_id, handOver, remove } = shared;
    const project = await requireProject(service.records, project_id);
    await handOver('bob');

    const refused = await remove(olga, { 'If-Match': `"${project.version}-x"` });

    expect(refused.status).toBe(403);
  });

  test('has a change checked again whose first attempt conflicted with it', async () => {
    const { service, project_id, handOver } = shared;
    const project = await requireProject(service.records, project_id);
    await handOver('bob');
    let checks = 0;
    const projectNow = async () => {
      checks += 1;
      throw new Error('not theirs any more');
    };

    const change = changeInProject({ project, projectNow }, (present) =>
      rename(service.records, present, { project_name: 'x' }, new Date()),
    );

    await expect(change).rejects.toThrow('not theirs any more');
    expect(checks).toBe(1);
  });

  test('wins over a removal of the new owner at the same moment', async () => {
    const { bob, share, unshare, handOver, members, memberCount } = shared;
    for (let round = 0; round < 5; round += 1) {
      await share('bob', 'developer');

      const [handed] = await Promise.all([handOver('bob'), unshare('bob')]);

      expect(handed.status).toBe(200);
      expect([await members(), await memberCount()]).toEqual([['bob owner', 'olga developer'], 1]);
      expect((await handOver('olga', bob)).status).toBe(200);
      await unshare('bob');
    }
  });
});

describe('no membership is left behind by the deletion of', () => {
  test('a project', async () => {
    const { service, bob, project_id, share, remove, purge, projectsOf, listRow } = shared;
    await share('bob', 'developer');

    const answer = await remove();

    expect(answer.status).toBe(200);
    // Until the purge, lists leave out the project.
    expect(await projectsOf(bob)).toEqual([]);
    expect(await listRow(bob.user.user_id)).toBeDefined();
    await purge();
    expect(await listRow(bob.user.user_id)).toBeUndefined();
    expect((await service.records.query({ pk: membersPartition(project_id) })).items).toEqual([]);
  });

  test('a user', async () => {
    const { bob, share, removeUser, members, memberCount, listRow } = shared;
    await share('bob', 'developer');

    await removeUser('bob');

    expect([await members(), await memberCount()]).toEqual([['olga owner'], 0]);
    expect(await listRow(bob.user.user_id)).toBeUndefined();
  });

  test('a user who is made a member while they are deleted', async () => {
    const { bob, addMember, removeUser, purge, members, memberCount, listRow } = shared;
    const { user_id, username } = bob.user;
    await removeUser('bob');
    await addMember({ user_id, username });

    await purge();

    expect([await members(), await memberCount()]).toEqual([['olga owner'], 0]);
    expect(await listRow(user_id)).toBeUndefined();
  });

  test('an owner who hands the project over at the same moment', async () => {
    const { service, bob, root, project_id, handOver, removeUser, purge, members, memberCount } = shared;
    for (let round = 0; round < 5; round += 1) {
      const name = `o${round}`;
      const passing = await service.user('developer', name);
      await handOver(name, root);

      await Promise.all([removeUser(name), handOver('bob', passing)]);
      await purge();

      const row = await ownedProjects.list(service.records, passing.user.user_id, undefined);
      expect(row.items).toEqual([]);
      expect((await members()).filter((one) => one.startsWith(name))).toEqual([]);
    }
    const { owner } = (await service.call(readProject, { path: { project_id }, as: bob })).json;
    expect(['bob', null]).toContain(owner);
    const { items } = await service.records.query({ pk: membersPartition(project_id) });
    expect(await memberCount()).toBe(items.length);
  });
});
