import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import type { Condition } from '../table/condition.ts';
import { recordType } from '../table/record.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import {
  type Item,
  type Key,
  type Page,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import {
  countUpTo,
  ownedProjects,
  type Project,
  parseProject,
  projectExists,
  projectKey,
} from './project.ts';

const member = recordType('member', () =>
  z.object({
    project_id: Ulid,
    user_id: Ulid,
    username: z.string(),
    role: MemberRole,
    added_at: Timestamp,
    version: z.number().int(),
  }),
);

/** User that a project is shared with. */
export type Member = z.infer<typeof member.schema>;

/** Roles of members. A project has one owner, who is in the project's own record. */
export const MemberRole = z.enum(['viewer', 'developer'], 'must be viewer or developer');
export type MemberRole = z.infer<typeof MemberRole>;

/** Roles in a project in ascending order of rights. Each includes all rights of the previous ones. */
export const projectRoles = ['viewer', 'developer', 'owner'] as const;
export type ProjectRole = (typeof projectRoles)[number];

export const parseMember = member.parse;

/** Maximum members of a project besides its owner. One read returns all of them. */
export const maxMembers = 100;
/** Label of the write that counts members. */
export const memberCount = new WriteLabel('members');

export const membersPartition = (project_id: string): string => `MEMBERS#${project_id}`;
/** Key patterns of the members of all projects, for the policy of a role. */
export const memberPatterns = ['MEMBERS#*'] as const;
export const memberKey = (project_id: string, user_id: string): Key => ({
  pk: membersPartition(project_id),
  sk: user_id,
});

export const findMember = (
  records: Records,
  project_id: string,
  user_id: string,
): Promise<Member | undefined> => member.find(records, memberKey(project_id, user_id));

type Records = TableReader<'records'>;

/**
 * Return the member for a change or removal, even if the record is unreadable. The default role is then viewer.
 */
export async function findMemberToReplace(
  records: Records,
  project_id: string,
  user_id: string,
): Promise<Member | undefined> {
  const item = await records.get(memberKey(project_id, user_id));
  if (item === undefined) return undefined;
  const version = typeof item['version'] === 'number' ? item['version'] : 0;
  return member.salvage(item, { project_id, user_id, username: '', role: 'viewer', added_at: '', version });
}

/** Return the members of a project without its owner, by the creation of their accounts. */
export async function listMembers(records: Records, project_id: string): Promise<Page<Member>> {
  const pk = membersPartition(project_id);
  return readPage(await records.query({ pk, limit: maxMembers }), member.parse);
}

/**
 * Give a user who is not the owner a role in a project.
 * @throws ConditionFailedError if the member or the project's owner changed since the read, or with {@link
 * memberCount} if the project has the maximum number of members
 */
export async function putMember(
  records: Writer,
  project: Project,
  value: Member,
  previous: Member | undefined,
): Promise<void> {
  await records.write(
    sameOwner(project),
    put(value, previous),
    listed(value),
    ...(previous === undefined ? [countMembers(project.project_id, 1)] : []),
  );
}

type Writer = TableWriter<'records'>;

/**
 * Build the check that fails if the project is gone, or its owner has changed since the caller's permission check.
 */
const sameOwner = ({ project_id, owner_id }: Project): Write => ({
  check: projectKey(project_id),
  if: { equals: { owner_id } },
});

const put = (value: Member, previous: Member | undefined): Write => ({
  put: member.item(memberKey(value.project_id, value.user_id), value),
  if: previous === undefined ? { exists: false } : { equals: { version: previous.version } },
});

/** Build the write that adds a shared project to the user's own list. */
const listed = ({ user_id, project_id }: Member): Write => ownedProjects.add(user_id, project_id);

const countMembers = (project_id: string, change: 1 | -1): Write =>
  memberCount.on(countUpTo(maxMembers, project_id, 'members', change));

/** Remove a member from a project. @throws ConditionFailedError as {@link putMember} */
export async function removeMember(records: Writer, project: Project, value: Member): Promise<void> {
  await records.write(
    sameOwner(project),
    {
      delete: memberKey(value.project_id, value.user_id),
      if: { equals: { version: value.version } },
    },
    unlisted(value),
    countMembers(project.project_id, -1),
  );
}

const unlisted = ({ user_id, project_id }: Pick<Member, 'user_id' | 'project_id'>): Write =>
  ownedProjects.remove(user_id, project_id);

/**
 * Transfer a project of the given version to another user. The former owner becomes a developer in it.
 * @param present membership of the new owner, if any
 * @throws ConditionFailedError if the project or the member changed since the read, or with {@link memberCount}
 */
export async function transferProject(
  records: Writer,
  project: Project,
  to: { user_id: string; username: string },
  present: Member | undefined,
  now: Date,
): Promise<Project> {
  const { project_id, version } = project;
  const updated_at = now.toISOString();
  const next = { owner: to.username, owner_id: to.user_id, updated_at };
  const former: Member | undefined =
    project.owner === null
      ? undefined
      : {
          project_id,
          user_id: project.owner_id,
          username: project.owner,
          role: 'developer',
          added_at: updated_at,
          version: 1,
        };
  const change = (former === undefined ? 0 : 1) - (present === undefined ? 0 : 1);
  const key = memberKey(project_id, to.user_id);
  await records.write(
    {
      update: projectKey(project_id),
      change: { set: next, add: { version: 1 } },
      if: { equals: { version } },
    },
    present === undefined
      ? { check: key, if: { exists: false } }
      : { delete: key, if: { equals: { version: present.version } } },
    ownedProjects.add(to.user_id, project_id),
    ...(former === undefined ? [] : [put(former, undefined), listed(former)]),
    ...(change === 0 ? [] : [countMembers(project_id, change > 0 ? 1 : -1)]),
  );
  return { ...project, ...next, version: version + 1 };
}

/**
 * End the role of a deleted user in a project. If the user owned the project, it has no owner afterwards. Also
 * remove it from the user's list.
 */
export function leaveProject(records: Writer, user_id: string, project_id: string): Promise<void> {
  return retryOnConflict(async () => {
    const [project, found] = await records.batchGet([projectKey(project_id), memberKey(project_id, user_id)]);
    const forget = unlisted({ user_id, project_id });
    if (project?.['owner_id'] === user_id) {
      const disown: Write = {
        update: projectKey(project_id),
        change: { set: { owner: null }, add: { version: 1 } },
        if: { equals: { owner_id: user_id } },
      };
      return records.write(disown, forget);
    }
    if (found === undefined) {
      // A concurrent transfer may make the user its owner.
      const isNotTheirs: Condition = { any: [{ exists: false }, { differs: { owner_id: user_id } }] };
      return records.write({ check: projectKey(project_id), if: isNotTheirs }, forget);
    }
    return records.write(
      { delete: memberKey(project_id, user_id), if: { exists: true } },
      forget,
      ...(project === undefined ? [] : [projectExists(project_id), countMembers(project_id, -1)]),
    );
  });
}

/** Remove members from a deleted project, and the project from their lists. */
export async function removeMembers(records: Writer, items: readonly Item[]): Promise<void> {
  const project_id = (item: Item): string => item.pk.slice(membersPartition('').length);
  const writes = items.flatMap((item): Write[] => [
    { delete: { pk: item.pk, sk: item.sk } },
    unlisted({ user_id: item.sk, project_id: project_id(item) }),
  ]);
  await records.write(...writes);
}

/** Return a page of the projects that a user owns or is a member of, newest first. */
export async function listOwnProjects(
  records: Records,
  user_id: string,
  page: { limit: number; after: string | undefined },
): Promise<Page<Project>> {
  const { items, next } = await ownedProjects.newest(records, user_id, page);
  const found: (Item | undefined)[] = [];
  for (let first = 0; first < items.length; first += 100) {
    found.push(...(await records.batchGet(items.slice(first, first + 100).map(projectKey))));
  }
  // A deleted project stays on the list until its purge.
  const present = found.filter((item) => item !== undefined);
  return readPage({ items: present, next }, parseProject);
}
