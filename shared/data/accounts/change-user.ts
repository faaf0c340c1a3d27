import { notFound, ServiceError } from '../../core/service-error.ts';
import { ofVersion } from '../table/record.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import type { TableReader, TableWriter, Write } from '../table/table.ts';
import { ConditionFailedError } from '../table/write-label.ts';
import { recordClosedAccount } from './closed-account.ts';
import {
  type AccountType,
  countPopulation,
  earlierPasswordKey,
  findUser,
  passwordKey,
  populationCount,
  storedPassword,
  type User,
  userKey,
  usernameKey,
} from './user.ts';

/**
 * Make a change of a user. If another change came between, retry with the current user.
 * @throws ServiceError `not-found` if the user is gone
 * @throws ServiceError `conflict` for the last admin, who must remain one
 * @throws ServiceError `conflict` if other changes keep coming between
 */
export function changeUser<T>(
  accounts: TableReader<'accounts'>,
  user: User,
  attempt: (user: User) => Promise<T>,
): Promise<T> {
  return retryOnConflict(async (number) => {
    const present = number === 1 ? user : await findUser(accounts, user.user_id);
    if (present === undefined) throw notFound('user', user.username);
    try {
      return await attempt(present);
    } catch (error) {
      // If the user's record changed too, they may no longer be an admin, so retry first.
      if (!(error instanceof ConditionFailedError && error.isOnly(populationCount))) throw error;
      const detail = `${user.username} is the last admin. Make another user an admin first, so that somebody can manage users.`;
      throw new ServiceError('conflict', detail, { cause: error });
    }
  });
}

/**
 * Delete a user of the given version. This signs them out and frees their name. A later task removes their other
 * data.
 * @throws ConditionFailedError as {@link changeUser}
 */
export async function removeUser(
  accounts: TableWriter<'accounts'>,
  { user_id, username, account_type, version }: User,
  closed_at: string,
): Promise<void> {
  await accounts.write(
    { delete: userKey(user_id), if: ofVersion(version) },
    countPopulation(-1, -adminsIn(account_type)),
    // User and name are deleted together, so the name still belongs to the user of this version. Its record may be
    // unreadable.
    { delete: usernameKey(username) },
    { delete: passwordKey(user_id) },
    { delete: earlierPasswordKey(user_id) },
    recordClosedAccount({ user_id, closed_at }),
  );
}

const adminsIn = (account_type: AccountType): number => (account_type === 'admin' ? 1 : 0);

/**
 * Change the account type of a user of the given version. This ends all their tokens.
 * @throws ConditionFailedError as {@link changeUser}
 */
export async function setAccountType(
  accounts: TableWriter<'accounts'>,
  user: User,
  account_type: AccountType,
): Promise<User> {
  const admins = adminsIn(account_type) - adminsIn(user.account_type);
  const update: Write = {
    update: userKey(user.user_id),
    change: { set: { account_type }, add: { version: 1, credentials_version: 1 } },
    if: { equals: { version: user.version } },
  };
  await accounts.write(update, ...(admins === 0 ? [] : [countPopulation(0, admins)]));
  return withNewCredentials({ ...user, account_type });
}

/**
 * Change the password hash of a user of the given version. This ends all their tokens.
 * @throws ConditionFailedError if another change came between
 */
export async function setPassword(
  accounts: TableWriter<'accounts'>,
  user: User,
  hash: string,
  changed_at: string,
): Promise<User> {
  await accounts.write(
    newCredentials(user),
    { put: storedPassword(user.user_id, hash, changed_at) },
    { delete: earlierPasswordKey(user.user_id) },
  );
  return withNewCredentials(user);
}

/**
 * End all sessions and tokens of a user of the given version.
 * @throws ConditionFailedError if another change came between
 */
export async function endCredentials(accounts: TableWriter<'accounts'>, user: User): Promise<User> {
  await accounts.write(newCredentials(user));
  return withNewCredentials(user);
}

const newCredentials = ({ user_id, version }: User): Write => ({
  update: userKey(user_id),
  change: { add: { version: 1, credentials_version: 1 } },
  if: { equals: { version } },
});

const withNewCredentials = (user: User): User => ({
  ...user,
  version: user.version + 1,
  credentials_version: user.credentials_version + 1,
});
