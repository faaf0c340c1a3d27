import { buildRouteMap } from '@stricli/core';
import type { endpoint as changeUserType } from '../../../functions/users/change-user-type.endpoint.ts';
import type { endpoint as createUser } from '../../../functions/users/create-user.endpoint.ts';
import type { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import type { endpoint as listUsers } from '../../../functions/users/list-users.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { CliError } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { agree, askPassword } from '../../login/ask.ts';
import { connect } from '../../login/connect.ts';
import { command } from '../command.ts';
import { json, yes } from '../flags.ts';

const accountTypes = ['guest', 'viewer', 'developer', 'admin'] as const;

const nameArgument = { brief: 'Name of the user', placeholder: 'NAME', parse: String } as const;

const users = (client: Client) => client.rows<typeof listUsers>('GET /users/', { query: { limit: 1000 } });

const lsCommand = command({
  brief: 'List the users',
  help: 'Example:\n  mps users ls',
  flags: { json },
  async run({ json: isJson }) {
    const { client } = await connect(this.env);
    await this.printer.list(users(client), isJson, ['USER', 'TYPE', 'SINCE'], (user) => [
      user.username,
      user.account_type,
      user.created_at.slice(0, 10),
    ]);
  },
});

const addCommand = command({
  brief: 'Create a user',
  help: 'Asks for the password. Without a terminal, it is read from the first line of stdin.\n\nExamples:\n  mps users add ada\n  mps users add grace --type viewer < password-file',
  args: [nameArgument],
  flags: {
    type: { kind: 'enum', values: accountTypes, default: 'developer', brief: 'Account type of the user' },
    json,
  },
  async run({ type: account_type, json: isJson }, username) {
    const { client } = await connect(this.env);
    const password = await askPassword(this, `Password of ${username}: `);
    const body = { password };
    const created = await client.call<typeof createUser>('POST /users/', {
      fields: { username, account_type },
      body,
    });
    if (isJson) this.printer.json(created);
    else this.printer.say(`Created ${created.username} (${created.account_type}).`);
  },
});

function accountType(text: string): AccountType {
  const found = accountTypes.find((one) => one === text);
  if (found === undefined) throw new Error(`must be one of ${accountTypes.join(', ')}`);
  return found;
}

const typeCommand = command({
  brief: 'Change the account type of a user',
  help: 'Example:\n  mps users type ada admin',
  args: [
    nameArgument,
    {
      brief: accountTypes.join(', '),
      placeholder: 'TYPE',
      parse: accountType,
      proposeCompletions: () => accountTypes,
    },
  ],
  flags: { json },
  async run({ json: isJson }, username, account_type) {
    const { client } = await connect(this.env);
    for await (const user of users(client)) {
      if (user.username !== username) continue;
      const route = 'POST /users/{user_id}/type';
      const { user_id } = user;
      const changed = await client.call<typeof changeUserType>(route, {
        path: { user_id },
        fields: { account_type },
      });
      if (isJson) this.printer.json(changed);
      else this.printer.say(`${username} is now ${changed.account_type} and must sign in again.`);
      return;
    }
    throw new CliError(`There is no user ${username}. "mps users ls" lists them.`);
  },
});

const rmCommand = command({
  brief: 'Delete a user',
  help: 'Example:\n  mps users rm ada --yes',
  args: [nameArgument],
  flags: { yes, json },
  aliases: { y: 'yes' },
  async run({ yes: isSure, json: isJson }, username) {
    const { client } = await connect(this.env);
    if (!isSure) await agree(this, `Delete the user ${username}?`, 'Nobody was deleted.');
    const removed = await client.call<typeof deleteUser>('DELETE /users/', { fields: { username } });
    if (isJson) this.printer.json(removed);
    else this.printer.say(`Deleted ${removed.username}.`);
  },
});

export const userRoutes = buildRouteMap<string, CliContext>({
  routes: { ls: lsCommand, add: addCommand, type: typeCommand, rm: rmCommand },
  defaultCommand: 'ls',
  docs: { brief: 'List, create, change and delete users' },
});

type AccountType = (typeof accountTypes)[number];
