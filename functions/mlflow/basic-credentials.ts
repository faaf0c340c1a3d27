import { createHash, randomBytes } from 'node:crypto';
import { signIn } from '../../shared/accounts/sign-in.ts';
import { newId } from '../../shared/core/new-id.ts';
import { readCredentials, writePasswords } from '../../shared/data/accounts/needs.ts';
import { authenticateToken } from '../../shared/data/accounts/token.ts';
import { recentReads } from '../../shared/data/table/recent-reads.ts';
import type { Identification, Identity } from '../../shared/http/definition/endpoint-context.ts';

/** Seconds for which this process reuses the token of a name and password. */
const tokenSeconds = 3600;
const maxKnown = 1000;

const salt = randomBytes(32);
/** Tokens by a digest of the credentials. Clients send the password with every request, and hashing it is slow. */
const tokens = new Map<string, Promise<string>>();

function credentialsOf(authorization: string): { username: string; password: string } | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const presented = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = presented.indexOf(':');
  if (colon < 1) return undefined;
  return { username: presented.slice(0, colon).toLowerCase(), password: presented.slice(colon + 1) };
}

const longest = { username: 64, password: 256 };

/**
 * Identify the user with this name and password. Each process signs the user in once an hour, with the same
 * back-off as `POST /auth/token`; a change of the password invalidates the token.
 * @throws ServiceError `unauthenticated`, `too-many-requests`
 */
export async function identifyBasic(
  authorization: string,
  { platform, sourceIp }: Identification,
): Promise<Identity | undefined> {
  const credentials = credentialsOf(authorization);
  if (credentials === undefined) return undefined;
  const { username, password } = credentials;
  if (username.length > longest.username || password.length > longest.password) return undefined;
  const accounts = writePasswords.open(platform);
  const digest = createHash('sha256')
    .update(salt)
    .update(JSON.stringify([platform.settings.accountsTable, username, password]))
    .digest('hex');
  const known = tokens.get(digest);
  const identity =
    known &&
    (await known.then(
      (bearer) => authenticateToken(recentReads(readCredentials.open(platform)), bearer, new Date()),
      () => undefined,
    ));
  if (identity !== undefined) return identity;
  const grant = { token_id: newId(), seconds: tokenSeconds, user_agent: 'MLflow', now: () => new Date() };
  const presented = { username, password, sourceIp, oidc: platform.settings.oidc };
  const bearer = signIn(accounts, presented, grant).then((signed) => signed.bearer);
  if (tokens.size >= maxKnown) tokens.clear();
  tokens.set(digest, bearer);
  bearer.catch(() => tokens.delete(digest));
  return authenticateToken(accounts, await bearer, new Date());
}
