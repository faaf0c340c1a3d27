import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { pagesOf } from '../table/pages-of.ts';
import { recordType } from '../table/record.ts';
import { type Key, readPage, type TableReader, type TableWriter, type Write } from '../table/table.ts';
import { tryWrite, WriteLabel } from '../table/write-label.ts';
import { type CiProvider, ciProviders } from './ci-providers.ts';
import { revokeTokensOf, type TokenOwner } from './token.ts';
import { TokenScope } from './token-scope.ts';
import { userKey, userPartition } from './user.ts';

const trust = recordType('ci-trust', () =>
  z.object({
    trust_id: Ulid,
    /** User whose rights its tokens have, as far as the scope goes. */
    user_id: Ulid,
    provider: z.enum(ciProviders),
    /** Path of the repository when the trust was made, for people. Its claims decide. */
    name: z.string(),
    issuer: z.string(),
    /** Claims that a token must have, by their names, with exactly these values. */
    claims: z.record(z.string(), z.string()),
    scope: TokenScope,
    /** US dollars that all jobs of all its tokens may cost together. Null without a limit of its own. */
    budget: z.number().nullable(),
    created_at: Timestamp,
    credentials_version: z.number().int(),
  }),
);
/** Trust in the runs of a repository: the issuer of their CI system may have tokens for them. */
export type CiTrust = z.infer<typeof trust.schema>;

export const parseTrust = trust.parse;

/** Claims that name a repository for ever; a name can be taken over. */
export const identifyingClaims = {
  github: ['repository_id', 'repository_owner_id'],
  gitlab: ['project_id'],
} as const satisfies Record<CiProvider, readonly string[]>;

/** Maximum trusts of one user. */
export const maxTrusts = 50;

/** Claims of a token, verified or not. */
type Claims = Readonly<Record<string, unknown>>;

/** Return the value of a claim as text. A list or an object is no value that a trust can name. */
export const claimText = (claims: Claims, name: string): string | undefined => {
  const value = claims[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
};

/** Return the partition of all trusts in one repository. Undefined if the claims name none of the provider's. */
function repositoryPartition(provider: CiProvider, issuer: string, claims: Claims): string | undefined {
  const ids = identifyingClaims[provider].map((name) => claimText(claims, name));
  if (ids.includes(undefined)) return undefined;
  const digest = createHash('sha256').update(JSON.stringify([provider, issuer, ...ids]));
  return `CI_TRUSTS#${digest.digest('hex')}`;
}

const trustKey = ({ provider, issuer, claims, trust_id }: CiTrust): Key => {
  const pk = repositoryPartition(provider, issuer, claims);
  if (pk === undefined) throw new Error('a trust names its repository');
  return { pk, sk: trust_id };
};

const ownPrefix = 'CI_TRUST#';
const ownKey = ({ user_id, trust_id }: Pick<CiTrust, 'user_id' | 'trust_id'>): Key => ({
  pk: userPartition(user_id),
  sk: `${ownPrefix}${trust_id}`,
});

/** Store a trust. @throws ConditionFailedError if the owner is gone or has other credentials */
export async function putTrust(accounts: TableWriter<'accounts'>, value: CiTrust): Promise<void> {
  const { user_id, credentials_version } = value;
  await accounts.write(
    { check: userKey(user_id), if: { equals: { credentials_version } } },
    { put: trust.item(trustKey(value), value), if: { exists: false } },
    { put: trust.item(ownKey(value), value), if: { exists: false } },
  );
}

/** Return the valid trusts of a user, newest first. */
export async function listTrusts(
  accounts: TableReader<'accounts'>,
  { user_id, credentials_version }: TokenOwner,
): Promise<CiTrust[]> {
  const trusts = await allTrusts(accounts, user_id);
  return trusts.filter((trusted) => trusted.credentials_version === credentials_version);
}

/** Return all trusts of a user, those of earlier credentials included, newest first. */
async function allTrusts(accounts: TableReader<'accounts'>, user_id: string): Promise<CiTrust[]> {
  const pages: CiTrust[] = [];
  for await (const page of pagesOf((after) =>
    accounts.query({
      pk: userPartition(user_id),
      prefix: ownPrefix,
      descending: true,
      after,
    }),
  )) {
    pages.push(...readPage(page, parseTrust).items);
  }
  return pages;
}

/**
 * Return the trusts in the repository that the claims of a token name, verified or not.
 * @param trust_id only this one: any developer may trust any repository, so there may be many
 */
export async function findTrusts(
  accounts: TableReader<'accounts'>,
  issuer: string,
  claims: Claims,
  trust_id: string | undefined,
): Promise<CiTrust[]> {
  const partitions = ciProviders.flatMap((provider) => repositoryPartition(provider, issuer, claims) ?? []);
  if (trust_id !== undefined) {
    const found = await Promise.all(partitions.map((pk) => accounts.get({ pk, sk: trust_id })));
    return found.filter((item) => item !== undefined).map(parseTrust);
  }
  const pages = await Promise.all(partitions.map((pk) => accounts.query({ pk, limit: 100 })));
  return pages.flatMap((page) => readPage(page, parseTrust).items);
}

/** Label of the check that a trust is still there. */
export const presentTrust = new WriteLabel('trust');

/** Build the check that a trust is still there. */
export const trustExists = (value: CiTrust): Write =>
  presentTrust.on({ check: trustKey(value), if: { exists: true } });

/** Remove a trust and revoke its tokens at once. Return false if it does not exist. */
export async function removeTrust(
  accounts: TableWriter<'accounts'>,
  user_id: string,
  trust_id: string,
): Promise<boolean> {
  const item = await accounts.get(ownKey({ user_id, trust_id }));
  if (item === undefined) return false;
  const removed = parseTrust(item);
  await accounts.write({ delete: trustKey(removed) });
  // From now on none is issued, so this finds all. Until all are revoked, the user still has the trust and can remove it.
  await revokeTokensOf(accounts, user_id, trust_id);
  await accounts.write({ delete: ownKey(removed) });
  return true;
}

const forget = (accounts: TableWriter<'accounts'>, value: CiTrust): Promise<void> =>
  accounts.write({ delete: trustKey(value) }, { delete: ownKey(value) });

/** Remove the trusts of earlier credentials of a user: they are invalid. Return how many are left. */
export async function forgetFormerTrusts(
  accounts: TableWriter<'accounts'>,
  { user_id, credentials_version }: TokenOwner,
): Promise<number> {
  const trusts = await allTrusts(accounts, user_id);
  const former = trusts.filter((trusted) => trusted.credentials_version !== credentials_version);
  for (const trusted of former) await tryWrite(forget(accounts, trusted));
  return trusts.length - former.length;
}

/** Remove all trusts of a user who is gone. */
export async function forgetTrusts(accounts: TableWriter<'accounts'>, user_id: string): Promise<void> {
  for (const trusted of await allTrusts(accounts, user_id)) await forget(accounts, trusted);
}
