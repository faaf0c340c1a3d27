import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { Timestamp, Ulid } from '../endpoint/parameters.ts';
import { recordType } from './record.ts';
import type { Key, TableReader, TableWriter } from './table.ts';
import { parseUser, type User, userKey } from './user.ts';

const token = recordType(
  'token',
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
  }),
);
export type Token = z.infer<typeof token.schema>;

const tokenKey = (user_id: string, hash: string): Key => ({ pk: `USER#${user_id}`, sk: `TOKEN#${hash}` });

const bearer = /^([0-7][0-9a-hjkmnp-tv-z]{25})\.([A-Za-z0-9_-]{43})$/;

/** Digest by which a token's secret is stored; the secret has 256 random bits, so a plain hash is enough. */
const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Issues a token for a user that lives for `seconds`; only this answer ever holds its secret. */
export async function issueToken(
  accounts: TableWriter<'accounts'>,
  user: User,
  options: { token_id: string; now: Date; seconds: number; name: string | null },
): Promise<{ bearer: string; token: Token }> {
  const secret = randomBytes(32).toString('base64url');
  const expires = new Date(options.now.getTime() + options.seconds * 1000);
  const value: Token = {
    token_id: options.token_id,
    user_id: user.user_id,
    name: options.name,
    created_at: options.now.toISOString(),
    expires_at: expires.toISOString(),
    ttl: Math.ceil(expires.getTime() / 1000),
    credentials_version: user.credentials_version,
  };
  await accounts.write(
    { put: token.item(tokenKey(user.user_id, digest(secret)), value), if: { exists: false } },
    { check: userKey(user.user_id), if: { equals: { credentials_version: user.credentials_version } } },
  );
  return { bearer: `${user.user_id}.${secret}`, token: value };
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
  const found = token.parse(tokenItem);
  const alive =
    Date.parse(found.expires_at) > now.getTime() && found.credentials_version === user.credentials_version;
  return alive ? { user, token_hash } : undefined;
}

/** Ends a token at once. Ending one that is gone is no error. */
export async function revokeToken(
  accounts: TableWriter<'accounts'>,
  user_id: string,
  token_hash: string,
): Promise<void> {
  await accounts.write({ delete: tokenKey(user_id, token_hash) });
}
