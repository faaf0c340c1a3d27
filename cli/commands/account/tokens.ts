import { resolve } from 'node:path';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import type { endpoint as listTokens } from '../../../functions/auth/list-tokens.endpoint.ts';
import type { endpoint as revokeToken } from '../../../functions/auth/revoke-token.endpoint.ts';
import type { RowOf } from '../../../shared/client/route.ts';
import { type TokenRight, tokenRights } from '../../../shared/data/accounts/token-rights.ts';
import { CliError, exitCodes, refuseBoth } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { writeSecret } from '../../login/saved-logins.ts';
import { daySeconds, days } from '../../login/sign-in.ts';
import { refuseReplacing } from '../../output/save-text.ts';
import { dollarsText } from '../../output/units.ts';
import { requireProject } from '../../projects/find-project.ts';
import { force, json, parsed, period, project, runBudget, text, verbose } from '../flags.ts';

async function ls(this: CliContext, { json: isJson }: Flags): Promise<void> {
  const { client } = await connect(this.env);
  const rows: string[][] = [];
  for await (const token of client.rows<typeof listTokens>('GET /auth/tokens')) {
    if (isJson) this.process.stdout.write(`${JSON.stringify(token)}\n`);
    const { token_id, name, created_at, expires_at, current, budget, charged } = token;
    const used = current ? 'this one' : '';
    const spent = budget === null ? '' : `${dollarsText(charged ?? 0)} of ${dollarsText(budget)}`;
    const scope = scopeText(token);
    const dates = [created_at, expires_at].map((time) => time.slice(0, 10));
    rows.push([token_id, name ?? '(sign-in)', ...dates, scope, spent, used]);
  }
  if (!isJson) this.printer.table(['TOKEN', 'NAME', 'CREATED', 'EXPIRES', 'MAY', 'CHARGED', ''], rows);
}

function scopeText({ scope }: RowOf<typeof listTokens>): string {
  if (scope === null) return 'all';
  const { projects, rights } = scope;
  if (projects === null) return rights;
  return `${rights} in ${projects.length === 1 ? projects[0] : `${projects.length} projects`}`;
}

const lsCommand = buildCommand({
  func: ls,
  parameters: { flags: { json, verbose } },
  docs: { brief: 'List your tokens', fullDescription: 'Example:\n  mps tokens ls' },
});

async function create(
  this: CliContext,
  { days: lifetime, expires, project: names = [], rights, budget, to, force: isForced }: CreateFlags,
  name: string,
): Promise<void> {
  refuseBoth({ days: lifetime, expires }, 'Choose one of --days and --expires.');
  if (rights === undefined && (names.length > 0 || budget !== undefined))
    throw new CliError(`Say what it may do: --rights ${tokenRights.join(', --rights ')}.`, exitCodes.usage);
  if (to === undefined && this.printer.isTerminal)
    throw new CliError(
      'Others can read a token on the screen. Save it with --to FILE, or pipe it to the program that stores it.',
      exitCodes.usage,
    );
  const file = to === undefined ? undefined : resolve(this.folder, to);
  if (file !== undefined) await refuseReplacing([file], { force: isForced, undone: 'no token was created' });
  const session = await connect(this.env);
  const { client } = session;
  const projects: string[] = [];
  for (const one of names) projects.push((await requireProject(session, this.folder, one)).project_id);
  const scope = rights && { rights, ...(projects.length > 0 && { projects }) };
  const expires_in = expires ?? (lifetime ?? 90) * daySeconds;
  const body = { name, expires_in, ...(scope && { scope }), ...(budget !== undefined && { budget }) };
  const { access_token, token_id, expires_at } = await client.call<typeof createNamedToken>(
    'POST /auth/tokens',
    {
      body,
    },
  );
  if (file === undefined) this.process.stdout.write(`${access_token}\n`);
  else await writeSecret(file, `${access_token}\n`);
  this.printer.say(
    `Created the token ${name} (${token_id}), valid until ${expires_at.slice(0, 16).replace('T', ' ')} UTC.`,
  );
}

const createCommand = buildCommand({
  func: create,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ brief: 'Purpose of the token, as its name', placeholder: 'NAME', parse: String }],
    },
    flags: {
      days: parsed(days, 'N', 'Days until it expires (default: 90)'),
      expires: { ...period, brief: 'Time until it expires, such as 30m, 8h or 7d' },
      rights: {
        kind: 'enum',
        values: tokenRights,
        brief: 'What it may do (default: all that you may)',
        optional: true,
      },
      project: {
        ...project,
        brief: 'Project that it reaches (default: all that you reach); may be repeated',
        variadic: true,
      },
      budget: { ...runBudget, brief: 'US$ that all that it begins may cost together' },
      to: text('FILE', 'File to save it in, which only you can read'),
      force,
      verbose,
    },
  },
  docs: {
    brief: 'Create a token for a script',
    fullDescription:
      'Without --rights it has all your rights. With --rights read it only reads; record also logs runs, metrics, params and artifacts; run also uploads, and begins and cancels trainings, sweeps and compressions. It is never shown on a terminal.\n\nExamples:\n  mps tokens create ci --days 30 --to token\n  mps tokens create ci --project digits --rights run --budget 20 --expires 8h | gh secret set MPS_TOKEN',
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
  expires?: number;
  rights?: TokenRight;
  project?: readonly string[];
  budget?: number;
  to?: string;
  force?: boolean;
}
