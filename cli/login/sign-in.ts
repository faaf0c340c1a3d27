import { hostname } from 'node:os';
import type { endpoint as createNamedToken } from '../../functions/auth/create-named-token.endpoint.ts';
import type { endpoint as createToken } from '../../functions/auth/create-token.endpoint.ts';
import type { endpoint as deleteToken } from '../../functions/auth/delete-token.endpoint.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { type Login, loginFile, readLogins, writeLogins } from './saved-logins.ts';
import { clientOf } from './service.ts';

/** Sign in and save a named token. Replace the token of an earlier login. @throws CliError for a wrong password */
export async function signIn(
  { url, username, password, days = 90 }: Credentials,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Login & { account_type: string }> {
  const granted = await clientOf(url)
    .call<typeof createToken>('POST /auth/token', { body: { grant_type: 'password', username, password } })
    .catch((error: unknown) => {
      if (!(error instanceof ProblemError) || error.status !== 401) throw error;
      throw new CliError(error.message, exitCodes.notSignedIn);
    });
  const signedIn = clientOf(url, granted.access_token);
  const file = loginFile(env);
  const logins = await readLogins(file);
  const { access_token: token, expires_at } = await signedIn.call<typeof createNamedToken>(
    'POST /auth/tokens',
    {
      body: { name: `mps on ${hostname()}`.slice(0, 128), expires_in: days * daySeconds },
    },
  );
  const login = { url, username: granted.username, token, expires_at };
  await keepLogin(login, logins, file, [granted.access_token]);
  return { ...login, account_type: granted.account_type };
}

/** Save the token of a sign-in at the issuer of a service. Replace the token of an earlier login. */
export async function keepGranted(
  url: string,
  {
    access_token: token,
    username,
    expires_in,
  }: { access_token: string; username: string; expires_in: number },
  env: Readonly<Record<string, string | undefined>>,
): Promise<Login> {
  const file = loginFile(env);
  const expires_at = new Date(Date.now() + expires_in * 1000).toISOString();
  const login = { url, username, token, expires_at };
  await keepLogin(login, await readLogins(file), file, []);
  return login;
}

/** Save a login in the place of the one of its service. */
async function keepLogin(
  login: Login,
  logins: readonly Login[],
  file: string,
  unneeded: readonly string[],
): Promise<void> {
  const { url } = login;
  await writeLogins(file, [login, ...logins.filter((one) => one.url !== url)]);
  const replaced = logins.filter((one) => one.url === url).map((one) => one.token);
  // Revoke tokens that are no longer needed. A failure is harmless, because they expire.
  for (const old of [...unneeded, ...replaced])
    await clientOf(url, old)
      .call<typeof deleteToken>('DELETE /auth/token')
      .catch(() => undefined);
}

/** Parse the lifetime of a token in days. @throws Error that Stricli reports */
export function days(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 365)
    throw new Error('must be a whole number from 1 to 365');
  return count;
}

interface Credentials {
  url: string;
  username: string;
  password: string;
  /** Lifetime of the login in days. */
  days?: number | undefined;
}

export const daySeconds = 24 * 60 * 60;
