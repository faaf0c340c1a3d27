import { notFound } from '../../../shared/core/service-error.ts';
import { findUserWithPicture, type Picture } from '../../../shared/data/accounts/picture.ts';
import type { User } from '../../../shared/data/accounts/user.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/** The user of this name with their picture. Throws a 404 problem where there is none. */
export async function requireUserWithPicture(
  accounts: TableReader<'accounts'>,
  username: string,
): Promise<{ user: User; picture: Picture | undefined }> {
  const found = await findUserWithPicture(accounts, username);
  if (found === undefined) throw notFound('user', username);
  return found;
}
