import { newId } from '../core/new-id.ts';
import { createUser, populationCount, readPopulation, type User } from '../data/accounts/user.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import { hashPassword } from './password.ts';

/** Name of the first user of a deployment. */
export const firstAdminName = 'admin' as const;

/** The created user, or the reason why there is none. */
export type FirstAdmin = { created: User } | { refused: 'admin-exists' | 'name-taken' };

/** Whether the deployment has an admin. */
export async function hasAdmin(accounts: TableWriter<'accounts'>): Promise<boolean> {
  return (await readPopulation(accounts)).admins > 0;
}

/** Whether a user is the first admin; in a deployment that does not know which one it is, whether the user is any admin. */
export async function isFirstAdmin(accounts: TableReader<'accounts'>, user: User): Promise<boolean> {
  if (user.account_type !== 'admin') return false;
  const { first_admin = user.user_id } = await readPopulation(accounts);
  return first_admin === user.user_id;
}

/**
 * Create `admin` with this password if there is no admin. Of several concurrent calls, one succeeds: the store
 * refuses the others.
 * @param password already checked against the rules for new passwords
 */
export async function createFirstAdmin(
  accounts: TableWriter<'accounts'>,
  password: string,
  now: Date,
): Promise<FirstAdmin> {
  if (await hasAdmin(accounts)) return { refused: 'admin-exists' };
  const user: User = {
    user_id: newId(),
    username: firstAdminName,
    account_type: 'admin',
    created_at: now.toISOString(),
    version: 1,
    credentials_version: 1,
  };
  try {
    await createUser(accounts, user, await hashPassword(password), { onlyIfNoAdmin: true });
    return { created: user };
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
    return { refused: populationCount.failedIn(error) ? 'admin-exists' : 'name-taken' };
  }
}
