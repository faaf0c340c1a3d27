import { hostname } from 'node:os';
import { buildCommand } from '@stricli/core';
import type { endpoint as createNamedToken } from '../../functions/auth/create-named-token.endpoint.ts';
import type { endpoint as createToken } from '../../functions/auth/create-token.endpoint.ts';
import type { endpoint as deleteToken } from '../../functions/auth/delete-token.endpoint.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { ask } from '../login/ask.ts';
import { askPassword } from '../login/ask-password.ts';
import { clientOf } from '../login/connect.ts';
import { loginFile, readLogins, writeLogins } from '../login/saved-logins.ts';
import { localUrl, serviceUrl } from '../login/service-url.ts';
import { daySeconds, days } from './days.ts';
import { verbose } from './flags.ts';

interface Flags {
  user?: string;
  days?: number;
  verbose?: boolean;
}

async function login(this: CliContext, { user, days: lifetime = 90 }: Flags, given?: string): Promise<void> {
  const url = serviceUrl(given ?? (this.env['MPS_URL'] || localUrl));
  const isTerminal = this.process.stdin.isTTY === true;
  if (user === undefined && !isTerminal)
    throw new CliError('Name the user with --user, and pipe the password in.', exitCodes.usage);
  const username = user ?? (await ask(`User on ${url}: `));
  const password = await askPassword(this);
  const granted = await clientOf(url)
    .call<typeof createToken>('POST /auth/token', { body: { grant_type: 'password', username, password } })
    .catch((error: unknown) => {
      if (!(error instanceof ProblemError) || error.status !== 401) throw error;
      throw new CliError(`${error.message}`, exitCodes.notSignedIn);
    });
  const signedIn = clientOf(url, granted.access_token);
  const file = loginFile(this.env);
  const logins = await readLogins(file);
  const named = await signedIn.call<typeof createNamedToken>('POST /auth/tokens', {
    body: { name: `mps on ${hostname()}`.slice(0, 128), expires_in: lifetime * daySeconds },
  });
  const others = logins.filter((one) => one.url !== url);
  const { access_token: token, expires_at } = named;
  await writeLogins(file, [{ url, username: granted.username, token, expires_at }, ...others]);
  const replaced = logins.filter((one) => one.url === url).map((one) => one.token);
  // Tokens that nobody needs any more; they would expire anyway.
  for (const old of [granted.access_token, ...replaced])
    await clientOf(url, old)
      .call<typeof deleteToken>('DELETE /auth/token')
      .catch(() => undefined);
  this.printer.say(
    `Signed in to ${url} as ${granted.username} (${granted.account_type}) until ${expires_at.slice(0, 10)}.`,
  );
}

export const loginCommand = buildCommand({
  func: login,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          brief: `Address of the service (MPS_URL, or ${localUrl})`,
          placeholder: 'URL',
          parse: String,
          optional: true,
        },
      ],
    },
    flags: {
      user: {
        kind: 'parsed',
        parse: String,
        brief: 'Name of the user; asked for without it',
        optional: true,
      },
      days: { kind: 'parsed', parse: days, brief: 'How long the login is good (90)', optional: true },
      verbose,
    },
  },
  docs: {
    brief: 'Sign in and keep a token',
    fullDescription: `Asks for user and password and keeps a named token, readable by you alone. Without a terminal the password is the first line of stdin. MPS_URL and MPS_TOKEN override what is kept.

Examples:
  mps login
  mps login https://abc.execute-api.eu-central-1.amazonaws.com/v1
  mps login --user ada < password-file`,
  },
});
