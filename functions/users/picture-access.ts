import { findUserWithPicture, type Picture } from '../../shared/data/picture.ts';
import type { TableReader } from '../../shared/data/table.ts';
import type { User } from '../../shared/data/user.ts';
import type { Caller } from '../../shared/endpoint/definition.ts';
import { notFound, Problem } from '../../shared/endpoint/problem.ts';

type Accounts = TableReader<'accounts'>;

/** 403 for a guest who looks at others; said before it is known whether there is such a user. */
export function requireMaySee({ account_type, username: own }: Caller, username: string): void {
  if (account_type !== 'guest' || username === own) return;
  throw new Problem('forbidden', 'A guest may see only their own picture.');
}

/** 403 for who changes others without being an admin; said before it is known whether there is such a user. */
export function requireMayChange({ account_type, username: own }: Caller, username: string): void {
  if (account_type === 'admin' || username === own) return;
  throw new Problem('forbidden', 'Only a user themselves or an admin may change their picture.');
}

/** The user of this name with their picture. Throws a 404 problem where there is none. */
export async function requireUserWithPicture(
  accounts: Accounts,
  username: string,
): Promise<{ user: User; picture: Picture | undefined }> {
  const found = await findUserWithPicture(accounts, username);
  if (found === undefined) throw notFound('user', username);
  return found;
}
