import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import { type Key, readPage, type TableReader, type TableWriter, type Write } from '../table/table.ts';
import { tryWrite, WriteLabel } from '../table/write-label.ts';
import { deploymentKey, keySchema } from './deployment-key.ts';
import { createUserWrites, type User, userKey, userPartition } from './user.ts';

const identity = recordType('identity', () =>
  z.object({
    user_id: Ulid,
    issuer: z.string(),
    /** The issuer's name of a person, which it never gives to another one. */
    subject: z.string(),
  }),
);
/** Person of an issuer, and the account that is theirs. */
type Identity = z.infer<typeof identity.schema>;

export type Subject = Pick<Identity, 'issuer' | 'subject'>;

const digest = ({ issuer, subject }: Subject): string =>
  createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex');

const identityKey = (person: Subject): Key => ({ pk: `IDENTITY#${digest(person)}`, sk: 'IDENTITY' });
const ownPrefix = 'IDENTITY#';
const ownKey = (value: Identity): Key => ({
  pk: userPartition(value.user_id),
  sk: `${ownPrefix}${digest(value)}`,
});

/** Return the id of the account of a person. The account may be gone. */
export const findIdentity = async (
  accounts: TableReader<'accounts'>,
  person: Subject,
): Promise<string | undefined> => (await identity.find(accounts, identityKey(person)))?.user_id;

/** Label of the write that claims a person for an account. */
export const identityClaim = new WriteLabel('identity');

/** @param gone account of the person that was deleted */
const claimIdentity = (
  { user_id }: Pick<User, 'user_id'>,
  { issuer, subject }: Subject,
  gone?: string,
): Write[] => {
  const value = { user_id, issuer, subject };
  return [
    identityClaim.on({
      put: identity.item(identityKey(value), value),
      if: gone === undefined ? { exists: false } : { equals: { user_id: gone } },
    }),
    { put: identity.item(ownKey(value), value) },
  ];
};

/** Days after a sign-in at the issuer for which the tokens of the account count. A person who leaves never signs in again. */
const renewalDays = 30;

const renewBy = (now: Date): string => new Date(now.getTime() + renewalDays * 86_400_000).toISOString();

/**
 * Note that the person of an account has signed in. Accounts with a password need no renewal.
 * @throws ConditionFailedError if the account has other credentials by now
 */
export async function renewAccount(
  accounts: TableWriter<'accounts'>,
  { user_id, credentials_version, renew_by }: User,
  now: Date,
): Promise<void> {
  if (renew_by === undefined) return;
  await accounts.write({
    update: userKey(user_id),
    change: { set: { renew_by: renewBy(now) } },
    if: { equals: { credentials_version } },
  });
}

/**
 * Create the account of a person, without a password.
 * @param gone account of the person that was deleted
 * @throws ConditionFailedError if the name is taken, or the person has another account ({@link identityClaim})
 */
export async function createPerson(
  accounts: TableWriter<'accounts'>,
  user: User,
  person: Subject,
  gone?: string,
): Promise<void> {
  const renewed = { ...user, renew_by: renewBy(new Date(user.created_at)) };
  await accounts.write(...createUserWrites(renewed), ...claimIdentity(user, person, gone));
}

/**
 * Give an existing account to a person.
 * @param gone account of the person that was deleted
 * @throws ConditionFailedError if the account has other credentials by now, or the person has one ({@link identityClaim})
 */
export async function linkIdentity(
  accounts: TableWriter<'accounts'>,
  owner: Pick<User, 'user_id' | 'credentials_version'>,
  person: Subject,
  gone?: string,
): Promise<void> {
  const { user_id, credentials_version } = owner;
  await accounts.write(
    { check: userKey(user_id), if: { equals: { credentials_version } } },
    ...claimIdentity(owner, person, gone),
  );
}

/** Forget whose a deleted account was. */
export async function forgetIdentities(accounts: TableWriter<'accounts'>, user_id: string): Promise<void> {
  const page = await accounts.query({ pk: userPartition(user_id), prefix: ownPrefix });
  for (const value of readPage(page, identity.parse).items) {
    const copy = { delete: ownKey(value) };
    const isTheirs = { equals: { user_id } };
    // The person may have another account by now.
    if (!(await tryWrite(accounts.write({ delete: identityKey(value), if: isTheirs }, copy))))
      await accounts.write(copy);
  }
}

/** The key that seals what a browser keeps during a sign-in. */
export const signInKey = /* @__PURE__ */ deploymentKey(
  'SIGN_IN_KEY',
  /* @__PURE__ */ recordType('sign-in-key', keySchema),
);
