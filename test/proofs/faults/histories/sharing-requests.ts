import { endpoint as deleteMember } from '../../../../functions/projects/members/delete-member.endpoint.ts';
import { endpoint as listMembers } from '../../../../functions/projects/members/list-members.endpoint.ts';
import { endpoint as putMember } from '../../../../functions/projects/members/put-member.endpoint.ts';
import { endpoint as transferProject } from '../../../../functions/projects/members/transfer-project.endpoint.ts';
import { endpoint as createProject } from '../../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as deleteProject } from '../../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as listProjects } from '../../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as updateProject } from '../../../../functions/projects/projects/update-project.endpoint.ts';
import { pick } from '../../../support/random-choice.ts';
import { type Answer, must } from '../world/ask.ts';
import { newDeveloper, type Service } from '../world/service.ts';
import type { Ask, Request } from './client.ts';
import type { Apply } from './linearize.ts';
import * as model from './sharing-world.ts';
import { World } from './world.ts';

/** A project that three developers share, take from one another and delete. */
export interface KnownSharing {
  world: World<model.Sharing>;
  project_id: string;
  people: readonly { name: string; token: string }[];
}

export async function newSharing(service: Service): Promise<KnownSharing> {
  const made = await Promise.all([newDeveloper(service), newDeveloper(service), newDeveloper(service)]);
  const query = {
    'project-name': 'shared',
    'project-description': 'Shared by three',
    'project-type': 'tabular',
    'project-task': 'classification',
  };
  const { project_id } = await must(createProject, service.environment, { query, token: made[0].token });
  const people = made.map(({ user, token }) => ({ name: user.username, token }));
  const initial: model.Sharing = { owner: made[0].user.username, members: {} };
  return { world: new World('shared', initial), project_id, people };
}

type Stages = readonly (readonly Apply<model.Sharing>[])[];
type Meanings = Readonly<Record<number, (json: Answer['json']) => Stages>>;

/** Requests about who may do what in the project, each drawn when it is sent. */
export function sharingRequests(
  ask: Ask,
  { world, project_id, people }: KnownSharing,
  random: () => number,
): (() => Request)[] {
  const path = { project_id };
  const gone = () => [[model.isGone]];
  const drawn = () => ({ by: pick(random, people), name: pick(random, people).name });
  const request = (what: string, meanings: Meanings, send: () => Promise<Answer>): Request => ({
    what,
    send,
    note({ status, json }, span) {
      const meaning = meanings[status];
      if (meaning === undefined) return false;
      world.note(span, `${what} → ${status} ${json?.detail ?? ''}`, ...meaning(json));
      return true;
    },
  });
  /** 409: what is asked for is about the owner, or others kept coming between. */
  const aboutOwner =
    (by: string): Meanings[number] =>
    ({ detail }) =>
      detail.includes('is the owner') ? [[model.isOwnedBy(by)]] : [];

  return [
    () => {
      const { by, name } = drawn();
      const role = pick(random, ['viewer', 'developer'] as const);
      const meanings: Meanings = {
        200: () => [[model.shared(by.name, name, role)]],
        403: () => [[model.isNotOwnedBy(by.name)]],
        404: gone,
        409: aboutOwner(by.name),
      };
      return request(`${by.name} makes ${name} a ${role}`, meanings, () =>
        ask(putMember, { path: { ...path, username: name }, query: { role }, token: by.token }),
      );
    },
    () => {
      const { by, name } = drawn();
      const meanings: Meanings = {
        200: ({ role }) => [[model.unshared(by.name, name, role)]],
        403: () => [[model.isNotOwnedBy(by.name)]],
        404: ({ detail }) =>
          detail.includes('no member')
            ? [[model.isOwnedBy(by.name)], [model.isMember(name, undefined)]]
            : gone(),
        409: aboutOwner(by.name),
      };
      return request(`${by.name} removes ${name}`, meanings, () =>
        ask(deleteMember, { path: { ...path, username: name }, token: by.token }),
      );
    },
    () => {
      const { by, name } = drawn();
      const meanings: Meanings = {
        200: () => [[model.transferred(by.name, name)]],
        403: () => [[model.isNotOwnedBy(by.name)]],
        404: gone,
        409: () => [],
      };
      return request(`${by.name} hands over to ${name}`, meanings, () =>
        ask(transferProject, { path, query: { username: name }, token: by.token }),
      );
    },
    () => {
      const { by } = drawn();
      const meanings: Meanings = {
        200: () => [[model.mayChange(by.name)], [model.isThere]],
        403: () => [[model.isNotOwnedBy(by.name)], [model.isNoDeveloper(by.name)]],
        404: gone,
        409: () => [],
      };
      const body = JSON.stringify({ project_name: `by ${by.name}` });
      const headers = { 'Content-Type': 'application/json' };
      return request(`${by.name} renames`, meanings, () =>
        ask(updateProject, { path, headers, body, token: by.token }),
      );
    },
    () => {
      const { by } = drawn();
      const meanings: Meanings = {
        200: (listed: { username: string; role: string }[]) => {
          const [owner, ...members] = listed;
          if (owner?.role !== 'owner') return [[() => undefined]];
          const expected = Object.fromEntries(members.map(({ username, role }) => [username, role]));
          return [[model.isOwnedBy(owner.username)], [model.hasMembers(expected)]];
        },
        404: gone,
      };
      return request(`${by.name} lists members`, meanings, () => ask(listMembers, { path, token: by.token }));
    },
    () => {
      const { by } = drawn();
      const meanings: Meanings = {
        200: (listed: { project_id: string }[]) =>
          listed.some((one) => one.project_id === project_id)
            ? [[model.isListedBy(by.name)], [model.isThere]]
            : [[model.isUnlistedBy(by.name)]],
      };
      return request(`${by.name} lists their projects`, meanings, () =>
        ask(listProjects, { query: { member: 'true' }, token: by.token }),
      );
    },
    () => {
      const { by } = drawn();
      // Seldom, since nothing comes after it.
      const isMeant = random() < 0.1;
      const headers: Record<string, string> = isMeant ? {} : { 'If-Match': '"999-x"' };
      const meanings: Meanings = {
        200: () => [[model.deleted(by.name)]],
        403: () => [[model.isNotOwnedBy(by.name)]],
        404: gone,
        409: () => [],
        412: () => [[model.isOwnedBy(by.name)]],
      };
      return request(`${by.name} deletes (${isMeant})`, meanings, () =>
        ask(deleteProject, { path, headers, token: by.token }),
      );
    },
  ];
}
