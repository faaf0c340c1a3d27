import { notFound } from '../../../shared/core/service-error.ts';
import { findUserByName, type User } from '../../../shared/data/accounts/user.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/** The user of this name. Throws a 404 problem when there is none. */
export async function requireUserByName(accounts: TableReader<'accounts'>, name: string): Promise<User> {
  const user = await findUserByName(accounts, name);
  if (user === undefined) throw notFound('user', name);
  return user;
}
