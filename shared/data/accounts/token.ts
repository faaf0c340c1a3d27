import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import { readPage } from '../table/read-page.ts';
import { recordType } from '../table/record.ts';
import type { Key, Page, TableReader, TableWriter, Write } from '../table/table.ts';
import { parseUser, type User, userKey, userPartition } from './user.ts';

const tokenSchema = () =>
  z.object({
    token_id: Ulid,
    user_id: Ulid,
    /** Given by the owner to a token for scripts; null for one of a sign-in. */
    name: z.string().nullable(),
    created_at: Timestamp,
    expires_at: Timestamp,
    /** Epoch seconds after which the store may remove the item. */
    ttl: z.number().int(),
    credentials_version: z.number().int(),
  });
export type Token = z.infer<ReturnType<typeof tokenSchema>>;

const token = recordType('token', tokenSchema);
/** The same token under its id, by which its owner finds it. */
const issued = recordType('issued-token', () => tokenSchema().extend({ hash: Sha256 }));
export type IssuedToken = z.infer<typeof issued.schema>;

/** What of a user makes tokens good. */
export type TokenOwner = Pick<User, 'user_id' | 'credentials_version'>;

const tokenKey = (user_id: string, hash: string): Key => ({
  pk: userPartition(user_id),
  sk: `TOKEN#${hash}`,
});
const issuedPrefix = 'TOKEN_ID#';
export const issuedKey = (user_id: string, token_id: string): Key => ({
  pk: userPartition(user_id),
  sk: `${issuedPrefix}${token_id}`,
});

export const parseIssued = issued.parse;

const bearer = /^([0-7][0-9a-hjkmnp-tv-z]{25})\.([A-Za-z0-9_-]{43})$/;

/** Digest by which a token's secret is stored; the secret has 256 random bits, so a plain hash is enough. */
const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Whether a token or session has neither expired nor died with the credentials that it was issued under. */
export const isAlive = (
  { expires_at, credentials_version }: Pick<Token, 'expires_at' | 'credentials_version'>,
  owner: Pick<TokenOwner, 'credentials_version'>,
  now: Date,
): boolean => Date.parse(expires_at) > now.getTime() && credentials_version === owner.credentials_version;

export interface NewToken {
  token_id: string;
  now: Date;
  /** Life, in seconds. */
  seconds: number;
  name: string | null;
}

/** A new token, of which only `bearer` holds the secret, and the writes that make it good while its owner is the same. */
export function prepareToken(
  { user_id, credentials_version }: TokenOwner,
  { token_id, now, seconds, name }: NewToken,
): { bearer: string; token: Token; writes: Write[] } {
  const secret = randomBytes(32).toString('base64url');
  const hash = digest(secret);
  const expires = new Date(now.getTime() + seconds * 1000);
  const value: Token = {
    token_id,
    user_id,
    name,
    created_at: now.toISOString(),
    expires_at: expires.toISOString(),
    ttl: Math.ceil(expires.getTime() / 1000),
    credentials_version,
  };
  return {
    bearer: `${user_id}.${secret}`,
    token: value,
    writes: [
      { check: userKey(user_id), if: { equals: { credentials_version } } },
      { put: token.item(tokenKey(user_id, hash), value), if: { exists: false } },
      { put: issued.item(issuedKey(user_id, token_id), { ...value, hash }), if: { exists: false } },
    ],
  };
}

/**
 * Issues a token; only this answer ever holds its secret.
 * @throws ConditionFailedError once the owner is gone or has other credentials
 */
export async function issueToken(
  accounts: TableWriter<'accounts'>,
  owner: TokenOwner,
  options: NewToken,
): Promise<{ bearer: string; token: Token }> {
  const { bearer, token, writes } = prepareToken(owner, options);
  await accounts.write(...writes);
  return { bearer, token };
}

/** The user whom a bearer token stands for, by one read; undefined for a token that is malformed, dead or unknown. */
export async function authenticateToken(
  accounts: TableReader<'accounts'>,
  presented: string,
  now: Date,
): Promise<{ user: User; token_hash: string } | undefined> {
  const [, user_id, secret] = bearer.exec(presented) ?? [];
  if (user_id === undefined || secret === undefined) return undefined;
  const token_hash = digest(secret);
  const [userItem, tokenItem] = await accounts.batchGet([userKey(user_id), tokenKey(user_id, token_hash)]);
  if (userItem === undefined || tokenItem === undefined) return undefined;
  const user = parseUser(userItem);
  return isAlive(token.parse(tokenItem), user, now) ? { user, token_hash } : undefined;
}

/** A user's tokens that are good, newest first. */
export async function listTokens(
  accounts: TableReader<'accounts'>,
  owner: TokenOwner,
  now: Date,
  page: { limit: number; after: string | undefined },
): Promise<Page<IssuedToken>> {
  const after = page.after === undefined ? undefined : `${issuedPrefix}${page.after}`;
  const found = await accounts.query({
    pk: userPartition(owner.user_id),
    prefix: issuedPrefix,
    descending: true,
    limit: page.limit,
    after,
  });
  const tokens = readPage(found, issued.parse);
  return {
    ...tokens,
    items: tokens.items.filter((one) => isAlive(one, owner, now)),
    next: found.next?.slice(issuedPrefix.length),
  };
}

const revocation = (user_id: string, token_id: string, hash: string): Write[] => [
  { delete: tokenKey(user_id, hash) },
  { delete: issuedKey(user_id, token_id) },
];

/** Ends the token of this hash at once. Ending one that is gone is no error. */
export async function revokeToken(
  accounts: TableWriter<'accounts'>,
  user_id: string,
  token_hash: string,
): Promise<void> {
  const item = await accounts.get(tokenKey(user_id, token_hash));
  if (item === undefined) return;
  await accounts.write(...revocation(user_id, token.parse(item).token_id, token_hash));
}

/** Stands in for what cannot be read of a token that is being revoked. */
const unreadableIssued: IssuedToken = {
  token_id: '',
  user_id: '',
  name: null,
  created_at: '',
  expires_at: '',
  ttl: 0,
  credentials_version: 0,
  hash: '',
};

/** Ends a user's token of this id at once; false where there is none. */
export async function revokeIssued(
  accounts: TableWriter<'accounts'>,
  user_id: string,
  token_id: string,
): Promise<boolean> {
  const item = await accounts.get(issuedKey(user_id, token_id));
  if (item === undefined) return false;
  const { hash } = issued.salvage(item, unreadableIssued);
  // Without the hash the token itself would stay good, and could not be named any more.
  if (hash === unreadableIssued.hash) issued.parse(item);
  await accounts.write(...revocation(user_id, token_id, hash));
  return true;
}
