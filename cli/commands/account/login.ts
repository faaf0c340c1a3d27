import { buildCommand } from '@stricli/core';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { ask, askPassword } from '../../login/ask.ts';
import { runningService } from '../../login/checkout.ts';
import { localUrl, requireService, serviceUrl } from '../../login/service.ts';
import { days, signIn } from '../../login/sign-in.ts';
import { verbose } from '../flags.ts';

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
        brief: 'Name of the user (default: ask)',
        optional: true,
      },
      days: {
        kind: 'parsed',
        parse: days,
        brief: 'Days until the login expires (default: 90)',
        optional: true,
      },
      verbose,
    },
  },
  docs: {
    brief: 'Sign in and keep a token',
    fullDescription: `Asks for user name and password, and saves a named token that only you can read. Without a terminal, the password is read from the first line of stdin. MPS_URL and MPS_TOKEN override the saved login.

Examples:
  mps login
  mps login https://abc.execute-api.eu-central-1.amazonaws.com/v1
  mps login --user ada < password-file`,
  },
});

async function login(this: CliContext, { user, days: lifetime }: Flags, given?: string): Promise<void> {
  const url = serviceUrl(given ?? (this.env['MPS_URL'] || (await runningService(this.env)) || localUrl));
  const isTerminal = this.process.stdin.isTTY === true;
  if (user === undefined && !isTerminal)
    throw new CliError('Name the user with --user, and pipe the password in.', exitCodes.usage);
  await requireService(url);
  const username = user ?? (await ask(`User on ${url}: `));
  const password = await askPassword(this);
  const { account_type, expires_at } = await signIn({ url, username, password, days: lifetime }, this.env);
  this.printer.say(`Signed in to ${url} as ${username} (${account_type}) until ${expires_at.slice(0, 10)}.`);
}

interface Flags {
  user?: string;
  days?: number;
  verbose?: boolean;
}
