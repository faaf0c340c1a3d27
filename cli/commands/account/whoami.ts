import type { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { connect } from '../../login/connect.ts';
import { command } from '../command.ts';
import { json } from '../flags.ts';

export const whoamiCommand = command({
  brief: 'Show the signed-in user and the service',
  help: 'Example:\n  mps whoami --json',
  flags: { json },
  async run(flags) {
    const { client } = await connect(this.env);
    const user = await client.call<typeof readOwnAccount>('GET /users/me');
    if (flags.json) this.printer.json({ url: client.url, ...user });
    else this.printer.line(`${user.username} (${user.account_type}) on ${client.url}`);
  },
});
