import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import { findUserByName, type User, Username } from '../../../shared/data/accounts/user.ts';
import { maxMembers, memberCount, projectRoles } from '../../../shared/data/projects/member.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { projectId } from '../../../shared/http/definition/parameters.ts';

/** Path parameters of one member of a project. */
export const memberPath = z.strictObject({
  project_id: projectId,
  username: Username.describe('Name of the member, such as `ada`.'),
});

/** A member of a project, its owner included. */
export const MemberAnswer = z
  .object({
    user_id: Ulid,
    username: z.string(),
    role: z.enum(projectRoles),
    added_at: Timestamp.nullable().describe(
      'Time at which the project was shared with the user; null for its owner.',
    ),
  })
  .meta({ id: 'Member' });

/** The 409 for a request that would change the project's owner through the member operations. */
export const isOwner = (username: string): ServiceError =>
  new ServiceError(
    'conflict',
    `${username} is the owner of the project. First hand it over to another user with PUT …/owner.`,
  );

/** Throw a 409 problem if the project has no room for another member. Rethrow any other error. */
export function refuseMembers(error: unknown): never {
  if (error instanceof ConditionFailedError && error.isOnly(memberCount)) {
    throw new ServiceError(
      'conflict',
      `Besides its owner, the project has the maximum of ${maxMembers} members. Remove one first.`,
      { cause: error },
    );
  }
  throw error;
}

/** Return the user with this name. Throw a 404 problem if there is none. */
export async function requireUserByName(accounts: TableReader<'accounts'>, name: string): Promise<User> {
  const user = await findUserByName(accounts, name);
  if (user === undefined) throw notFound('user', name);
  return user;
}
