import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import { pagesOf } from '../table/pages-of.ts';
import { recordType } from '../table/record.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import {
  type Key,
  type Page,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { CiRun } from './ci-run.ts';
import { type ChargedToken, TokenScope } from './token-scope.ts';
import { parseUser, type User, userKey, userPartition } from './user.ts';

const tokenSchema = () =>
  z.object({
    token_id: Ulid,
    user_id: Ulid,
    /** Name that the owner gives to a token for scripts. Null for a token of a sign-in. */
    name: z.string().nullable(),
    created_at: Timestamp,
    expires_at: Timestamp,
    /** Epoch seconds after which DynamoDB may remove the item. */
    ttl: z.number().int(),
    credentials_version: z.number().int(),
    /** Null for a token with all rights of its user. Releases that did not record it made only such tokens. */
    scope: TokenScope.nullable().default(null),
    /** US dollars that the jobs which it begins may cost, all together. Null without a limit of its own. */
    budget: z.number().nullable().default(null),
    /** Trust in a CI system by which it was issued. Its budget is that of all tokens of the trust. */
    trust_id: Ulid.nullable().default(null),
    /** Run of the CI system that it was issued to. */
    ci: CiRun.nullable().default(null),
  });
type Token = z.infer<ReturnType<typeof tokenSchema>>;

const token = recordType('token', tokenSchema);
/** Copy of the token under its id, for lists and revocation by its owner. */
const issued = recordType('issued-token', () =>
  tokenSchema().extend({
    hash: Sha256,
    /** What asked for the token. Blank for tokens that are older than these fields. */
    user_agent: z.string().default(''),
    address: z.string().default(''),
  }),
);
export type IssuedToken = z.infer<typeof issued.schema>;

/** Fields of a user that decide whether tokens are valid. */
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

const bearer = /^([0-7][0-9a-hjkmnp-tv-z]{25})\.(s?[A-Za-z0-9_-]{43})$/;

/** Return the stored digest of a token's secret. The secret has 256 random bits, so a plain hash is enough. */
const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Whether a token or session is valid: it has not expired, and the credentials have not changed since. */
export const isAlive = (
  { expires_at, credentials_version }: Pick<Token, 'expires_at' | 'credentials_version'>,
  owner: Pick<TokenOwner, 'credentials_version'>,
  now: Date,
): boolean => Date.parse(expires_at) > now.getTime() && credentials_version === owner.credentials_version;

/** Whether a user must first sign in at the issuer again. */
export const isOverdue = ({ renew_by }: Pick<User, 'renew_by'>, now: Date): boolean =>
  renew_by !== undefined && Date.parse(renew_by) <= now.getTime();

interface NewToken {
  token_id: string;
  now: Date;
  /** Lifetime in seconds. */
  seconds: number;
  name: string | null;
  /** Null or absent for all rights of the user. */
  scope?: TokenScope | null | undefined;
  /** US dollars; null or absent without a budget. */
  budget?: number | null | undefined;
  /** What asks for the token, so that its owner can tell it from others. */
  use?: { user_agent: string; address: string };
  trust_id?: string | null;
  ci?: CiRun | null;
}

/** Characters of a `User-Agent` that are kept. */
const userAgentLength = 256;

/**
 * Create a token and the writes that store it. Only `bearer` contains the secret. The writes fail if the owner's
 * credentials have changed.
 */
function prepareToken(
  { user_id, credentials_version }: TokenOwner,
  {
    token_id,
    now,
    seconds,
    name,
    scope = null,
    budget = null,
    use = { user_agent: '', address: '' },
    trust_id = null,
    ci = null,
  }: NewToken,
): { bearer: string; token: Token; writes: Write[] } {
  // Releases that know no scopes refuse a secret of this form, instead of giving its holder all rights.
  const form = scope === null ? '' : 's';
  const secret = `${form}${randomBytes(32).toString('base64url')}`;
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
    scope,
    budget,
    trust_id,
    ci,
  };
  const { address } = use;
  const user_agent = use.user_agent.slice(0, userAgentLength);
  return {
    bearer: `${user_id}.${secret}`,
    token: value,
    writes: [
      { check: userKey(user_id), if: { equals: { credentials_version } } },
      { put: token.item(tokenKey(user_id, hash), value), if: { exists: false } },
      {
        put: issued.item(issuedKey(user_id, token_id), { ...value, hash, user_agent, address }),
        if: { exists: false },
      },
    ],
  };
}

/**
 * Issue a token. Only this result contains its secret. `also` are further writes of the same transaction.
 * @throws ConditionFailedError if the owner is gone or has other credentials
 */
export async function issueToken(
  accounts: TableWriter<'accounts'>,
  owner: TokenOwner,
  options: NewToken,
  also: readonly Write[] = [],
): Promise<{ bearer: string; token: Token }> {
  const { bearer, token, writes } = prepareToken(owner, options);
  await accounts.write(...writes, ...also);
  return { bearer, token };
}

/** A user, and what their token leaves of their rights. */
interface TokenIdentity {
  user: User;
  token_hash: string;
  token_id: string;
  scope?: TokenScope;
  charged_token?: ChargedToken;
  ci?: CiRun;
}

/** Return what the jobs of a token are charged to besides their months; undefined for a token without a budget. */
export const chargedTokenOf = ({
  user_id,
  token_id,
  trust_id,
  budget,
}: Pick<Token, 'user_id' | 'token_id' | 'trust_id' | 'budget'>): ChargedToken | undefined =>
  budget === null ? undefined : { user_id, token_id: trust_id ?? token_id, budget };

/**
 * Return the user of a bearer token, with one read. Return undefined if the token is malformed, invalid or
 * unknown.
 */
export async function authenticateToken(
  accounts: TableReader<'accounts'>,
  presented: string,
  now: Date,
): Promise<TokenIdentity | undefined> {
  const [, user_id, secret] = bearer.exec(presented) ?? [];
  if (user_id === undefined || secret === undefined) return undefined;
  const token_hash = digest(secret);
  const [userItem, tokenItem] = await accounts.batchGet([userKey(user_id), tokenKey(user_id, token_hash)]);
  if (userItem === undefined || tokenItem === undefined) return undefined;
  const user = parseUser(userItem);
  const found = token.parse(tokenItem);
  if (!isAlive(found, user, now) || isOverdue(user, now)) return undefined;
  const { token_id, scope, ci } = found;
  const charged_token = chargedTokenOf(found);
  return {
    user,
    token_hash,
    token_id,
    ...(scope !== null && { scope }),
    ...(charged_token !== undefined && { charged_token }),
    ...(ci !== null && { ci }),
  };
}

/** Return a page of a user's valid tokens, newest first. */
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
    items: tokens.items.filter((item) => isAlive(item, owner, now)),
    next: found.next?.slice(issuedPrefix.length),
  };
}

const revocation = (user_id: string, token_id: string, hash: string): Write[] => [
  { delete: tokenKey(user_id, hash) },
  { delete: issuedKey(user_id, token_id) },
];

/** Revoke the token of this hash at once. A missing token is no error. */
export async function revokeToken(
  accounts: TableWriter<'accounts'>,
  user_id: string,
  token_hash: string,
): Promise<void> {
  const item = await accounts.get(tokenKey(user_id, token_hash));
  if (item === undefined) return;
  await accounts.write(...revocation(user_id, token.parse(item).token_id, token_hash));
}

/** Default values for unreadable attributes of a token that is being revoked. */
const unreadableIssued: IssuedToken = {
  token_id: '',
  user_id: '',
  name: null,
  created_at: '',
  expires_at: '',
  ttl: 0,
  credentials_version: 0,
  scope: null,
  budget: null,
  trust_id: null,
  ci: null,
  hash: '',
  user_agent: '',
  address: '',
};

/** Revoke a user's token of this id at once. Return false if it does not exist. */
export async function revokeIssued(
  accounts: TableWriter<'accounts'>,
  user_id: string,
  token_id: string,
): Promise<boolean> {
  const item = await accounts.get(issuedKey(user_id, token_id));
  if (item === undefined) return false;
  const { hash } = issued.salvage(item, unreadableIssued);
  // Without the hash the token itself would stay valid, and nobody could revoke it.
  if (hash === unreadableIssued.hash) issued.parse(item);
  await accounts.write(...revocation(user_id, token_id, hash));
  return true;
}

/** Revoke all tokens of a user that were issued by a trust, at once. */
export async function revokeTokensOf(
  accounts: TableWriter<'accounts'>,
  user_id: string,
  trust_id: string,
): Promise<void> {
  // A page, and the audit record, fit into a transaction.
  const query = { pk: userPartition(user_id), prefix: issuedPrefix, limit: 49 };
  for await (const page of pagesOf((after) => accounts.query({ ...query, after }))) {
    const those = readPage(page, issued.parse).items.filter((item) => item.trust_id === trust_id);
    if (those.length > 0)
      await accounts.write(...those.flatMap(({ token_id, hash }) => revocation(user_id, token_id, hash)));
  }
}

/** Maximum tokens for scripts of one user. */
export const maxNamedTokens = 50;

const namedTokens = recordType('named-tokens', () =>
  z.object({
    /** Ids of all tokens for scripts that may be valid. Invalid ones are removed when the list is full. */
    token_ids: z.array(Ulid).max(maxNamedTokens),
    version: z.number().int(),
  }),
);

const listOfTokens = new WriteLabel('list of named tokens');

const namedTokensKey = (user_id: string): Key => ({ pk: userPartition(user_id), sk: 'NAMED_TOKENS' });

/** Return the valid ones of these tokens. */
async function aliveOf(
  accounts: TableWriter<'accounts'>,
  owner: TokenOwner,
  token_ids: readonly string[],
  now: Date,
): Promise<string[]> {
  const items = await accounts.batchGet(token_ids.map((token_id) => issuedKey(owner.user_id, token_id)));
  return token_ids.filter((_, index) => {
    const item = items[index];
    return item !== undefined && isAlive(parseIssued(item), owner, now);
  });
}

/**
 * Issue a token for scripts. Only this result contains its secret. Return undefined if the owner has the maximum
 * number.
 * @throws ConditionFailedError if the owner is gone or has other credentials
 * @throws ServiceError `conflict` if other changes keep coming between
 */
export async function issueNamedToken(
  accounts: TableWriter<'accounts'>,
  owner: TokenOwner,
  options: NewToken & { name: string },
): Promise<{ bearer: string; token: Token } | undefined> {
  const key = namedTokensKey(owner.user_id);
  const issue = async () => {
    const item = await accounts.get(key);
    const { token_ids, version } =
      item === undefined ? { token_ids: [], version: 0 } : namedTokens.parse(item);
    const kept =
      token_ids.length < maxNamedTokens ? token_ids : await aliveOf(accounts, owner, token_ids, options.now);
    if (kept.length >= maxNamedTokens) return undefined;
    const { bearer, token, writes } = prepareToken(owner, options);
    const put = namedTokens.item(key, { token_ids: [...kept, token.token_id], version: version + 1 });
    const condition = version === 0 ? { exists: false } : { equals: { version } };
    await accounts.write(...writes, listOfTokens.on({ put, if: condition }));
    return { bearer, token };
  };
  return retryOnConflict(issue, { isConflict: (error) => error.isOnly(listOfTokens) });
}
