import { resolve } from 'node:path';
import { buildRouteMap } from '@stricli/core';
import type { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import type { endpoint as listTokens } from '../../../functions/auth/list-tokens.endpoint.ts';
import type { endpoint as revokeToken } from '../../../functions/auth/revoke-token.endpoint.ts';
import type { RowOf } from '../../../shared/client/route.ts';
import { tokenRights } from '../../../shared/data/accounts/token-rights.ts';
import { CliError, exitCodes, refuseBoth } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { writeSecret } from '../../login/saved-logins.ts';
import { daySeconds, days } from '../../login/sign-in.ts';
import { refuseReplacing } from '../../output/save-text.ts';
import { dollarsText } from '../../output/units.ts';
import { requireProject } from '../../projects/find-project.ts';
import { command } from '../command.ts';
import { force, json, parsed, period, project, runBudget, text } from '../flags.ts';

function scopeText({ scope }: RowOf<typeof listTokens>): string {
  if (scope === null) return 'all';
  const { projects, rights } = scope;
  if (projects === null) return rights;
  return `${rights} in ${projects.length === 1 ? projects[0] : `${projects.length} projects`}`;
}

const lsCommand = command({
  brief: 'List your tokens',
  help: 'Example:\n  mps tokens ls',
  flags: { json },
  async run({ json: isJson }) {
    const { client } = await connect(this.env);
    const headings = ['TOKEN', 'NAME', 'CREATED', 'EXPIRES', 'MAY', 'CHARGED', ''];
    const tokens = client.rows<typeof listTokens>('GET /auth/tokens');
    await this.printer.list(tokens, isJson, headings, (token) => {
      const { token_id, name, created_at, expires_at, current, budget, charged } = token;
      const used = current ? 'this one' : '';
      const spent = budget === null ? '' : `${dollarsText(charged ?? 0)} of ${dollarsText(budget)}`;
      const scope = scopeText(token);
      const dates = [created_at, expires_at].map((time) => time.slice(0, 10));
      return [token_id, name ?? '(sign-in)', ...dates, scope, spent, used];
    });
  },
});

const createCommand = command({
  brief: 'Create a token for a script',
  help: 'Without --rights it has all your rights. With --rights read it only reads; record also logs runs, metrics, params and artifacts; run also uploads, and begins and cancels trainings, sweeps and compressions. It is never shown on a terminal.\n\nExamples:\n  mps tokens create ci --days 30 --to token\n  mps tokens create ci --project digits --rights run --budget 20 --expires 8h | gh secret set MPS_TOKEN',
  args: [{ brief: 'Purpose of the token, as its name', placeholder: 'NAME', parse: String }],
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
  },
  aliases: {},
  async run({ days: lifetime, expires, project: names = [], rights, budget, to, force: isForced }, name) {
    refuseBoth({ days: lifetime, expires }, 'Choose one of --days and --expires.');
    if (rights === undefined && (names.length > 0 || budget !== undefined))
      throw new CliError(`Say what it may do: --rights ${tokenRights.join(', --rights ')}.`, exitCodes.usage);
    if (to === undefined && this.printer.isTerminal)
      throw new CliError(
        'Others can read a token on the screen. Save it with --to FILE, or pipe it to the program that stores it.',
        exitCodes.usage,
      );
    const file = to === undefined ? undefined : resolve(this.folder, to);
    if (file !== undefined)
      await refuseReplacing([file], { force: isForced, undone: 'no token was created' });
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
  },
});

const revokeCommand = command({
  brief: 'Revoke tokens',
  help: 'Example:\n  mps tokens revoke 01k…',
  args: [{ brief: 'IDs of the tokens, from "mps tokens ls"', placeholder: 'ID', parse: String, several: 1 }],
  async run(_, ...ids) {
    const { client } = await connect(this.env);
    for (const token_id of ids) {
      await client.call<typeof revokeToken>('DELETE /auth/tokens/{token_id}', { path: { token_id } });
      this.printer.say(`Revoked ${token_id}.`);
    }
  },
});

export const tokenRoutes = buildRouteMap<string, CliContext>({
  routes: { ls: lsCommand, create: createCommand, revoke: revokeCommand },
  defaultCommand: 'ls',
  docs: { brief: 'List, create and revoke your tokens' },
});
