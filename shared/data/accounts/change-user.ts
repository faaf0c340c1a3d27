import { notFound, ServiceError } from '../../core/service-error.ts';
import { ofVersion } from '../table/record.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import type { TableReader, TableWriter, Write } from '../table/table.ts';
import { ConditionFailedError } from '../table/write-label.ts';
import { recordClosedAccount } from './closed-account.ts';
import {
  type AccountType,
  countPopulation,
  findUser,
  passwordKey,
  populationCount,
  storedPassword,
  type User,
  userKey,
  usernameKey,
} from './user.ts';

/**
 * Make a change of a user. Retry it when another change came between, with the user as they are then.
 * @throws ServiceError `not-found` once the user is gone
 * @throws ServiceError `conflict` for the last admin, who has to remain one
 * @throws ServiceError `conflict` when other changes keep coming between
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
      // Where the user was changed as well, it is not known yet whether they are still an admin.
      if (!(error instanceof ConditionFailedError && error.isOnly(populationCount))) throw error;
      const detail = `${user.username} is the last admin, without whom nobody could manage users. Make somebody else an admin first.`;
      throw new ServiceError('conflict', detail, { cause: error });
    }
  });
}

/**
 * Deletes a user of the given version, who is signed out by that and whose name is free again; what else there is of
 * them is removed afterwards.
 * @throws ConditionFailedError for {@link changeUser}
 */
export async function removeUser(
  accounts: TableWriter<'accounts'>,
  { user_id, username, account_type, version }: User,
  closed_at: string,
): Promise<void> {
  await accounts.write(
    { delete: userKey(user_id), if: ofVersion(version) },
    countPopulation(-1, -adminsIn(account_type)),
    // Both go together, so the name is this user's for as long as they are of the version; it may not say so legibly.
    { delete: usernameKey(username) },
    { delete: passwordKey(user_id) },
    recordClosedAccount({ user_id, closed_at }),
  );
}

const adminsIn = (account_type: AccountType): number => (account_type === 'admin' ? 1 : 0);

/**
 * Gives a user of the given version another account type, which ends all their tokens.
 * @throws ConditionFailedError for {@link changeUser}
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
  const { version, credentials_version } = user;
  return { ...user, account_type, version: version + 1, credentials_version: credentials_version + 1 };
}

/**
 * Gives a user of the given version another password hash, which ends all their tokens.
 * @throws ConditionFailedError when another change came between
 */
export async function setPassword(
  accounts: TableWriter<'accounts'>,
  user: User,
  hash: string,
  changed_at: string,
): Promise<User> {
  const { version, credentials_version } = user;
  await accounts.write(
    {
      update: userKey(user.user_id),
      change: { add: { version: 1, credentials_version: 1 } },
      if: { equals: { version } },
    },
    { put: storedPassword(user.user_id, hash, changed_at) },
  );
  return { ...user, version: version + 1, credentials_version: credentials_version + 1 };
}
