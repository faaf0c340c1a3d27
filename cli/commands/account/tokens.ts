import { resolve } from 'node:path';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import type { endpoint as listTokens } from '../../../functions/auth/list-tokens.endpoint.ts';
import type { endpoint as revokeToken } from '../../../functions/auth/revoke-token.endpoint.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { writeSecret } from '../../login/saved-logins.ts';
import { daySeconds, days } from '../../login/sign-in.ts';
import { refuseReplacing } from '../../output/save-text.ts';
import { force, json, verbose } from '../flags.ts';

async function ls(this: CliContext, { json: isJson }: Flags): Promise<void> {
  const { client } = await connect(this.env);
  const rows: string[][] = [];
  for await (const token of client.rows<typeof listTokens>('GET /auth/tokens')) {
    if (isJson) this.process.stdout.write(`${JSON.stringify(token)}\n`);
    const { token_id, name, created_at, expires_at, current } = token;
    const used = current ? 'this one' : '';
    rows.push([token_id, name ?? '(sign-in)', created_at.slice(0, 10), expires_at.slice(0, 10), used]);
  }
  if (!isJson) this.printer.table(['TOKEN', 'NAME', 'CREATED', 'EXPIRES', ''], rows);
}

const lsCommand = buildCommand({
  func: ls,
  parameters: { flags: { json, verbose } },
  docs: { brief: 'List your tokens', fullDescription: 'Example:\n  mps tokens ls' },
});

async function create(
  this: CliContext,
  { days: lifetime = 90, to, force: isForced }: CreateFlags,
  name: string,
): Promise<void> {
  if (to === undefined && this.printer.isTerminal)
    throw new CliError(
      'Others can read a token on the screen. Save it with --to FILE, or pipe it to the program that stores it.',
      exitCodes.usage,
    );
  const file = to === undefined ? undefined : resolve(this.folder, to);
  if (file !== undefined) await refuseReplacing([file], { force: isForced, undone: 'no token was created' });
  const { client } = await connect(this.env);
  const body = { name, expires_in: lifetime * daySeconds };
  const { access_token, token_id, expires_at } = await client.call<typeof createNamedToken>(
    'POST /auth/tokens',
    {
      body,
    },
  );
  if (file === undefined) this.process.stdout.write(`${access_token}\n`);
  else await writeSecret(file, `${access_token}\n`);
  this.printer.say(`Created the token ${name} (${token_id}), valid until ${expires_at.slice(0, 10)}.`);
}

const createCommand = buildCommand({
  func: create,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ brief: 'Purpose of the token, as its name', placeholder: 'NAME', parse: String }],
    },
    flags: {
      days: {
        kind: 'parsed',
        parse: days,
        placeholder: 'N',
        brief: 'Days until it expires (default: 90)',
        optional: true,
      },
      to: {
        kind: 'parsed',
        parse: String,
        placeholder: 'FILE',
        brief: 'File to save it in, which only you can read',
        optional: true,
      },
      force,
      verbose,
    },
  },
  docs: {
    brief: 'Create a token for a script',
    fullDescription:
      'It has all your rights. It is never shown on a terminal.\n\nExamples:\n  mps tokens create ci --days 30 --to token\n  mps tokens create ci | gh secret set MPS_TOKEN',
  },
});

async function revoke(this: CliContext, _: { verbose?: boolean }, ...ids: string[]): Promise<void> {
  const { client } = await connect(this.env);
  for (const token_id of ids) {
    await client.call<typeof revokeToken>('DELETE /auth/tokens/{token_id}', { path: { token_id } });
    this.printer.say(`Revoked ${token_id}.`);
  }
}

const revokeCommand = buildCommand({
  func: revoke,
  parameters: {
    positional: {
      kind: 'array',
      parameter: { brief: 'IDs of the tokens, from "mps tokens ls"', placeholder: 'ID', parse: String },
      minimum: 1,
    },
    flags: { verbose },
  },
  docs: { brief: 'Revoke tokens', fullDescription: 'Example:\n  mps tokens revoke 01k…' },
});

export const tokenRoutes = buildRouteMap<string, CliContext>({
  routes: { ls: lsCommand, create: createCommand, revoke: revokeCommand },
  defaultCommand: 'ls',
  docs: { brief: 'List, create and revoke your tokens' },
});

interface Flags {
  json?: boolean;
  verbose?: boolean;
}

interface CreateFlags {
  verbose?: boolean;
  days?: number;
  to?: string;
  force?: boolean;
}
