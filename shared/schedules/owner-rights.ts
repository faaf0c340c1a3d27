import { isAlive, isOverdue, issuedKey, parseIssued } from '../data/accounts/token.ts';
import { accountTypes, findUser } from '../data/accounts/user.ts';
import { findMember } from '../data/projects/member.ts';
import type { Project } from '../data/projects/project.ts';
import type { Schedule } from '../data/schedules/schedule.ts';
import type { TableReader } from '../data/table/table.ts';

/**
 * Check that the user as whom a schedule runs may still train in its project, and that the token by which they made it is
 * valid. The scope of that token included the project when it was made, and no scope ever changes.
 * @returns a sentence that says what is missing; undefined if they may
 */
export async function missingRight(
  { owners, records }: RightsReaders,
  {
    user_id,
    username,
    token_id,
    project_id,
  }: Pick<Schedule, 'user_id' | 'username' | 'token_id' | 'project_id'>,
  { owner_id }: Project,
  now: Date,
): Promise<string | undefined> {
  const user = await findUser(owners, user_id);
  if (user === undefined) return `${username}, as whom it runs, was deleted.`;
  if (isOverdue(user, now)) return `${username}, as whom it runs, must sign in at the issuer again.`;
  const { account_type } = user;
  if (accountTypes.indexOf(account_type) < accountTypes.indexOf('developer'))
    return `${username}, as whom it runs, is a ${account_type} now and may not train.`;
  if (account_type !== 'admin' && owner_id !== user_id) {
    const member = await findMember(records, project_id, user_id);
    if (member?.role !== 'developer')
      return `${username}, as whom it runs, is no longer a developer of this project.`;
  }
  if (token_id === undefined) return undefined;
  const issued = await owners.get(issuedKey(user_id, token_id));
  if (issued !== undefined && isAlive(parseIssued(issued), user, now)) return undefined;
  return `The token with which ${username} made it was revoked or has expired.`;
}

interface RightsReaders {
  /** Users and their tokens. */
  owners: TableReader<'accounts'>;
  records: TableReader<'records'>;
}
