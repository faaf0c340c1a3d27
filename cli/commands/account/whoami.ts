import { buildCommand } from '@stricli/core';
import type { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { json, verbose } from '../flags.ts';

export const whoamiCommand = buildCommand({
  func: whoami,
  parameters: { flags: { json, verbose } },
  docs: {
    brief: 'Show the signed-in user and the service',
    fullDescription: 'Example:\n  mps whoami --json',
  },
});

async function whoami(this: CliContext, flags: Flags): Promise<void> {
  const { client } = await connect(this.env);
  const user = await client.call<typeof readOwnAccount>('GET /users/me');
  if (flags.json) this.printer.json({ url: client.url, ...user });
  else this.printer.line(`${user.username} (${user.account_type}) on ${client.url}`);
}

interface Flags {
  json?: boolean;
  verbose?: boolean;
}
