import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { withoutAudit } from '../table/audited-writer.ts';
import type { Condition } from '../table/condition.ts';
import { pagesOf } from '../table/pages-of.ts';
import { recordType, unreadableVersion } from '../table/record.ts';
import {
  type Item,
  type Key,
  type Page,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { tryWrite, WriteLabel } from '../table/write-label.ts';

const user = recordType('user', () =>
  z.object({
    user_id: Ulid,
    username: z.string(),
    account_type: AccountType,
    created_at: Timestamp,
    version: z.number().int(),
    /**
     * Counts changes of password and account type, which end every session. A token of an earlier count is
     * invalid.
     */
    credentials_version: z.number().int(),
    /** Time until which tokens count if their user does not sign in at the issuer again. Absent for accounts with a password. */
    renew_by: Timestamp.optional(),
  }),
);

export type User = z.infer<typeof user.schema>;

/** Account types in ascending order of rights. Each includes all rights of the previous ones. */
export const accountTypes = ['guest', 'viewer', 'developer', 'admin'] as const;
export const AccountType = z.enum(accountTypes, `must be one of ${accountTypes.join(', ')}`);
export type AccountType = z.infer<typeof AccountType>;

/** User name, in lower case. */
export const Username = z
  .string()
  .min(1, 'is blank')
  .toLowerCase()
  .regex(
    /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/,
    'must be 1 to 64 letters, digits, dots, underscores and hyphens, with a letter or digit at both ends',
  )
  .refine((name) => !reserved.has(name), 'is a reserved word');

const reserved = new Set(['check', 'me']);

export const userKey = (user_id: string): Key => ({ pk: usersPartition, sk: user_id });

const usersPartition = 'USERS';

export const usernameKey = (name: string): Key => ({ pk: `USERNAME#${name}`, sk: 'USERNAME' });
/** Return the partition of a user's credentials: tokens and sessions. */
export const userPartition = (user_id: string): string => `USER#${user_id}`;
/** Key of the hash of a user's password: in a partition of its own, which few functions may read. */
export const passwordKey = (user_id: string): Key => ({ pk: `PASSWORD#${user_id}`, sk: 'PASSWORD' });
/** Its key until 0.1.0. The next sign-in moves it. */
export const earlierPasswordKey = (user_id: string): Key => ({ pk: userPartition(user_id), sk: 'PASSWORD' });

export const parseUser = user.parse;

export const findUser = (accounts: Accounts, user_id: string): Promise<User | undefined> =>
  user.find(accounts, userKey(user_id));

type Accounts = TableReader<'accounts'>;

/** Return the names of the existing users of these ids, by id. */
export async function readUsernames(
  accounts: Accounts,
  user_ids: readonly string[],
): Promise<Map<string, string>> {
  const found: Item[] = [];
  for (let from = 0; from < user_ids.length; from += 100) {
    const items = await accounts.batchGet(user_ids.slice(from, from + 100).map(userKey));
    found.push(...items.filter((item) => item !== undefined));
  }
  const { items } = readPage({ items: found, next: undefined }, user.parse);
  return new Map(items.map(({ user_id, username: name }) => [user_id, name]));
}

const username = recordType('username', () => z.object({ user_id: Ulid }));

/** Return the id of the user with this name (in lower case). */
export const findUserId = async (accounts: Accounts, name: string): Promise<string | undefined> =>
  (await username.find(accounts, usernameKey(name)))?.user_id;

/** Return the user with this name (in lower case). */
export async function findUserByName(accounts: Accounts, name: string): Promise<User | undefined> {
  const user_id = await findUserId(accounts, name);
  return user_id === undefined ? undefined : findUser(accounts, user_id);
}

/**
 * Return the user with this name (in lower case) for removal, even if the record of the user or of the name is
 * unreadable.
 */
export async function findUserToRemove(accounts: Accounts, name: string): Promise<User | undefined> {
  const named = await accounts.get(usernameKey(name));
  if (named === undefined) return undefined;
  const { user_id } = username.salvage(named, { user_id: unreadableId });
  const item =
    user_id === unreadableId ? await searchUser(accounts, name) : await accounts.get(userKey(user_id));
  return (
    item &&
    user.salvage(item, {
      user_id: item.sk,
      username: name,
      account_type: 'guest',
      created_at: new Date(0).toISOString(),
      version: unreadableVersion,
      credentials_version: 0,
    })
  );
}

/** Placeholder for an unreadable id. */
const unreadableId = '';

/**
 * Find the item of the user with this name without the record of the name. It scans page by page, because such
 * damage is rare.
 */
async function searchUser(accounts: Accounts, name: string): Promise<Item | undefined> {
  for await (const page of pagesOf((after) => accounts.query({ pk: usersPartition, after }))) {
    const found = page.items.find((item) => item['username'] === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Return a page of users, newest first. */
export async function listUsers(
  accounts: Accounts,
  page: { limit: number; after: string | undefined },
): Promise<Page<User>> {
  return readPage(await accounts.query({ pk: usersPartition, descending: true, ...page }), user.parse);
}

/** Return a user and the hash of the password, and whether the hash is still at its earlier key. */
export async function findCredentials(
  accounts: Accounts,
  name: string,
): Promise<{ user: User; hash: string; isEarlier: boolean } | undefined> {
  const user_id = (await findUserId(accounts, name)) ?? nobody;
  const keys = [userKey(user_id), passwordKey(user_id), earlierPasswordKey(user_id)];
  const [found, present, earlier] = await accounts.batchGet(keys);
  const secret = present ?? earlier;
  const isEarlier = present === undefined;
  return found && secret && { user: user.parse(found), hash: password.parse(secret).hash, isEarlier };
}

/** Id that no user has. It replaces the id of an unknown name, so the reads take equally long. */
const nobody = '0'.repeat(26);

const password = recordType('password', () => z.object({ hash: z.string(), changed_at: Timestamp }));

/** Return the numbers of users and admins, and the first admin, if known. */
export async function readPopulation(accounts: Accounts): Promise<z.infer<typeof population.schema>> {
  const item = await accounts.get(populationKey);
  return item === undefined ? { users: 0, admins: 0 } : population.parse(item);
}

const populationKey: Key = { pk: 'POPULATION', sk: 'POPULATION' };

const population = recordType('population', () =>
  z.object({
    users: z.number().int(),
    admins: z.number().int(),
    /** Absent in deployments that are older than it. */
    first_admin: Ulid.optional(),
  }),
);

/** Label of the write that claims a user name. */
export const usernameClaim = new WriteLabel('username');
/** Label of the write that counts users and admins. */
export const populationCount = new WriteLabel('population');

/**
 * Build the write that adds to the counts of users and admins; negative numbers subtract. It fails if no admin
 * would remain.
 * @param first_admin user who becomes the first admin; then it fails if there is an admin
 */
export function countPopulation(users: number, admins: number, first_admin?: string): Write {
  return populationCount.on({
    update: populationKey,
    change: {
      set: {
        ...{ record_type: population.kind, schema_version: 0 },
        ...(first_admin !== undefined && { first_admin }),
      },
      add: { users, admins },
    },
    ...(admins < 0 && { if: { above: { admins: -admins } } }),
    ...(first_admin !== undefined && { if: noAdmin }),
  });
}

/** Build the item with a user's password hash. */
export const storedPassword = (user_id: string, hash: string, changed_at: string): Item =>
  password.item(passwordKey(user_id), { hash, changed_at });

/**
 * Create a user with a password hash. `also` are further writes of the same transaction.
 * @throws ConditionFailedError if the name is taken ({@link usernameClaim}), or, with `onlyIfNoAdmin`, if an admin
 * already exists ({@link populationCount})
 */
export async function createUser(
  accounts: TableWriter<'accounts'>,
  value: User,
  hash: string,
  { onlyIfNoAdmin = false, also = [] }: { onlyIfNoAdmin?: boolean; also?: readonly Write[] } = {},
): Promise<void> {
  await accounts.write(
    ...createUserWrites(value, onlyIfNoAdmin),
    { put: storedPassword(value.user_id, hash, value.created_at) },
    ...also,
  );
}

/** Build the writes that create a user without a password. */
export function createUserWrites(value: User, onlyIfNoAdmin = false): Write[] {
  const { user_id, account_type } = value;
  return [
    usernameClaim.on({
      put: username.item(usernameKey(value.username), { user_id }),
      if: { exists: false },
    }),
    { put: user.item(userKey(user_id), value), if: { exists: false } },
    countPopulation(1, account_type === 'admin' ? 1 : 0, onlyIfNoAdmin ? user_id : undefined),
  ];
}

const noAdmin: Condition = { any: [{ absent: ['admins'] }, { equals: { admins: 0 } }] };

/**
 * Replace the hash of an unchanged password, and move it from its earlier key. If the password has changed since, do
 * nothing.
 */
export async function replaceHash(
  accounts: TableWriter<'accounts'>,
  user_id: string,
  { from, to, isEarlier }: { from: string; to: string; isEarlier: boolean },
  now: Date,
): Promise<void> {
  const unchanged = { equals: { hash: from } };
  const table = withoutAudit(accounts);
  await tryWrite(
    isEarlier
      ? table.write(
          { put: storedPassword(user_id, to, now.toISOString()), if: { exists: false } },
          { delete: earlierPasswordKey(user_id), if: unchanged },
        )
      : table.write({ update: passwordKey(user_id), change: { set: { hash: to } }, if: unchanged }),
  );
}
