import { ServiceError } from '../../../shared/core/service-error.ts';
import { maxMembers, memberCount } from '../../../shared/data/projects/member.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';

/** The 409 for a change of a project's owner by the operations on its members. */
export const isOwner = (username: string): ServiceError =>
  new ServiceError(
    'conflict',
    `${username} is the owner of the project. Hand it over to somebody else with PUT …/owner first.`,
  );

/** Throw a 409 problem for a project with no room for another member; any other error as it is. */
export function refuseMembers(error: unknown): never {
  if (error instanceof ConditionFailedError && error.isOnly(memberCount)) {
    throw new ServiceError(
      'conflict',
      `The project has ${maxMembers} members besides its owner, the most it may have. Remove one first.`,
      { cause: error },
    );
  }
  throw error;
}
