import { buildRouteMap } from '@stricli/core';
import * as z from 'zod/mini';
import type { endpoint as createTrust } from '../../../functions/auth/trusts/create-trust.endpoint.ts';
import type { endpoint as deleteTrust } from '../../../functions/auth/trusts/delete-trust.endpoint.ts';
import type { endpoint as listTrusts } from '../../../functions/auth/trusts/list-trusts.endpoint.ts';
import { errorText } from '../../../shared/core/error-text.ts';
import { type CiProvider, ciProviders, usualIssuers } from '../../../shared/data/accounts/ci-providers.ts';
import { tokenRights } from '../../../shared/data/accounts/token-rights.ts';
import { gateGrammar, runGateGrammar } from '../../../shared/gates/parse-gate.ts';
import { usualCiFile } from '../../ci/usual-ci-file.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { ciLogin } from '../../login/ci-login.ts';
import { chosenLogin, connect } from '../../login/connect.ts';
import { dollarsText } from '../../output/units.ts';
import { requireProject } from '../../projects/find-project.ts';
import { localPath } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, project, runBudget, text } from '../flags.ts';

const nextStep: Readonly<Record<CiProvider, (url: string) => string>> = {
  github: (url) => `Give the job "permissions: { id-token: write }" and MPS_URL=${url}.`,
  gitlab: (url) => `Give the job "id_tokens: { MPS_ID_TOKEN: { aud: ${url} } }" and MPS_URL=${url}.`,
};

/** Look up the ids of a repository of GitHub. They stay the same when it is renamed. */
async function githubIds(
  name: string,
  { id, ownerId, issuer }: Partial<Record<'id' | 'ownerId' | 'issuer', string | undefined>>,
  env: CliContext['env'],
) {
  if (id !== undefined && ownerId !== undefined) return { repository_id: id, repository_owner_id: ownerId };
  // A GitHub Enterprise Server issues tokens below https://HOST/_services/token.
  const server = issuer?.endsWith('/_services/token') ? `${new URL(issuer).origin}/api/v3` : undefined;
  const token = env['GH_TOKEN'] || env['GITHUB_TOKEN'];
  const repository = await lookUp(
    `${server ?? 'https://api.github.com'}/repos/${name.split('/').map(encodeURIComponent).join('/')}`,
    token === undefined ? {} : { Authorization: `Bearer ${token}` },
    GithubRepository,
    'Give its ids: gh api repos/OWNER/NAME --jq ".id, .owner.id", then --id N --owner-id N. A private one needs GH_TOKEN.',
  );
  return {
    repository_id: id ?? String(repository.id),
    repository_owner_id: ownerId ?? String(repository.owner.id),
  };
}

const GithubRepository = z.object({ id: z.int(), owner: z.object({ id: z.int() }) });

async function gitlabId(
  name: string,
  issuer = usualIssuers.gitlab,
  env: CliContext['env'] = {},
): Promise<string> {
  const token = env['GITLAB_TOKEN'];
  const repository = await lookUp(
    `${issuer.replace(/\/+$/, '')}/api/v4/projects/${encodeURIComponent(name)}`,
    token ? { 'PRIVATE-TOKEN': token } : {},
    GitlabProject,
    'Give its project ID with --id N. A private one needs GITLAB_TOKEN.',
  );
  return String(repository.id);
}

const GitlabProject = z.object({ id: z.int() });

async function lookUp<T>(
  address: string,
  headers: Record<string, string>,
  schema: { parse(value: unknown): T },
  advice: string,
): Promise<T> {
  try {
    const response = await fetch(address, {
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    return schema.parse(await response.json());
  } catch (error) {
    throw new CliError(`${address} does not tell the ids of the repository: ${errorText(error)}. ${advice}`);
  }
}

const addCommand = command({
  brief: 'Trust the runs of a repository',
  help: 'Runs of the repository sign in with the identity token of GitHub Actions or GitLab, so no secret is stored there. The trust keeps the ids of repository and owner, because names can be taken over.\n\nExamples:\n  mps ci trust add github OWNER/NAME --ref main --project digits --budget 20\n  mps ci trust add gitlab GROUP/NAME --protected --project digits',
  args: [
    { brief: 'github or gitlab', placeholder: 'github|gitlab', parse: provider },
    { brief: 'Path of the repository', placeholder: 'OWNER/NAME', parse: String },
  ],
  flags: {
    ref: text('REF', 'Branch or tag of the runs, such as main or refs/tags/v1'),
    environment: text('NAME', 'Environment of the jobs'),
    protected: choice('GitLab: only runs on protected branches'),
    id: text('N', 'ID of the repository (default: ask GitHub or GitLab)'),
    ownerId: text('N', 'ID of its owner, on GitHub (default: ask GitHub)'),
    issuer: text('URL', "Issuer of the identity tokens, for a server of one's own"),
    rights: {
      kind: 'enum',
      values: tokenRights,
      default: 'run',
      brief: 'What its runs may do',
    },
    project: { ...project, brief: 'Project that its runs reach; may be repeated', variadic: true },
    budget: { ...runBudget, brief: 'US$ that all its runs may cost together' },
  },
  aliases: {},
  async run(
    { ref, environment, protected: isProtected, id, ownerId, issuer, rights, budget, project: names = [] },
    provider,
    name,
  ) {
    if (names.length === 0)
      throw new CliError('Say which project its runs reach: --project NAME.', exitCodes.usage);
    const session = await connect(this.env);
    const projects: string[] = [];
    for (const named of names) projects.push((await requireProject(session, this.folder, named)).project_id);
    const ids =
      provider === 'github'
        ? await githubIds(name, { id, ownerId, issuer }, this.env)
        : { project_id: id ?? (await gitlabId(name, issuer, this.env)) };
    const trust = await session.client.call<typeof createTrust>('POST /auth/trusts', {
      body: {
        provider,
        name,
        ...(issuer !== undefined && { issuer }),
        claims: {
          ...ids,
          ...(ref !== undefined && { ref: ref.startsWith('refs/') ? ref : `refs/heads/${ref}` }),
          ...(environment !== undefined && { environment }),
          ...(isProtected !== undefined && { ref_protected: isProtected }),
        },
        scope: { rights, projects },
        ...(budget !== undefined && { budget }),
      },
    });
    this.process.stdout.write(`${trust.trust_id}\n`);
    const claims = Object.entries(trust.claims).map(([claim, value]) => `${claim}=${value}`);
    this.printer.say(
      `Runs of ${name} with ${claims.join(', ')} may ${rights} in ${names.join(', ')}. ${nextStep[provider](session.client.url)} With MPS_TRUST=${trust.trust_id} no trust of somebody else in the repository counts.`,
    );
  },
});

function provider(text: string): CiProvider {
  const named = ciProviders.find((name) => name === text);
  if (named === undefined) throw new Error('must be github or gitlab');
  return named;
}

const trustRoutes = buildRouteMap<string, CliContext>({
  routes: {
    add: addCommand,
    ls: command({
      brief: 'List your trusts',
      help: 'Example:\n  mps ci trust ls',
      flags: { json },
      async run({ json: isJson }) {
        const { client } = await connect(this.env);
        const trusts = await client.call<typeof listTrusts>('GET /auth/trusts');
        const headings = ['TRUST', 'REPOSITORY', 'RUNS', 'MAY', 'CHARGED', 'CREATED'];
        await this.printer.list(
          trusts,
          isJson,
          headings,
          ({ trust_id, provider: system, name, claims, scope, budget, charged, created_at }) => [
            trust_id,
            `${system}:${name}`,
            Object.entries(claims)
              .flatMap(([claim, value]) => (claim.endsWith('_id') ? [] : [`${claim}=${value}`]))
              .join(' '),
            `${scope.rights} in ${scope.projects?.join(', ') ?? 'all projects'}`,
            budget === null ? '' : `${dollarsText(charged ?? 0)} of ${dollarsText(budget)}`,
            created_at.slice(0, 10),
          ],
        );
      },
    }),
    rm: command({
      brief: 'Remove trusts and revoke their tokens',
      help: 'Example:\n  mps ci trust rm 01k…',
      args: [
        { brief: 'IDs of the trusts, from "mps ci trust ls"', placeholder: 'ID', parse: String, several: 1 },
      ],
      async run(_, ...ids) {
        const { client } = await connect(this.env);
        for (const trust_id of ids) {
          await client.call<typeof deleteTrust>('DELETE /auth/trusts/{trust_id}', { path: { trust_id } });
          this.printer.say(`Removed ${trust_id}, and revoked its tokens.`);
        }
      },
    }),
  },
  defaultCommand: 'ls',
  docs: { brief: 'Trust repositories, whose runs then need no stored token' },
});

async function token(this: CliContext): Promise<void> {
  const { url } = await chosenLogin(this.env);
  const logIn = ciLogin(url, this.env);
  if (logIn === undefined)
    throw new CliError(
      'This is no job of GitHub Actions with "permissions: { id-token: write }", and MPS_ID_TOKEN is not set.',
      exitCodes.usage,
    );
  if (this.printer.isTerminal) throw new CliError('Others can read a token on the screen.', exitCodes.usage);
  this.process.stdout.write(`${(await logIn()).token}\n`);
}

const checkCommand = command({
  brief: 'Check this commit against its target branch by gates, and comment on the request',
  help: `Reads gates, judges an ONNX file or trainings against the target branch, and keeps one comment on the pull or merge request. Exit codes: 4 a gate fails, 5 there is no base (without_base: fail), 1 the training failed, 2 the file is wrong.

Conditions of ONNX files: ${gateGrammar}.
Conditions of trainings: ${runGateGrammar}.

Examples:
  mps ci
  mps ci .mps/nightly.yaml --comment never`,
  args: [
    {
      brief: `File of gates (default: ${usualCiFile})`,
      placeholder: 'FILE',
      parse: String,
      optional: true,
    },
  ],
  flags: {
    dryRun: choice('Show what would be checked'),
    comment: {
      kind: 'enum',
      values: ['auto', 'always', 'never'],
      default: 'auto',
      brief: 'Comment on the request; always: fail if that is not possible',
    },
    json,
  },
  async run(flags, file = usualCiFile) {
    const { check } = await import('../../ci/check.ts');
    return check(this, flags, file);
  },
});

const commentCommand = command({
  brief: "Comment with the report of a fork's check, in a workflow on: workflow_run",
  help: 'Example:\n  mps ci comment mps-ci.json',
  args: [localPath('mps-ci.json of a check')],
  async run(_, file) {
    const { commentLater } = await import('../../ci/check.ts');
    return commentLater(this, file);
  },
});

export const ciRoutes = buildRouteMap<string, CliContext>({
  routes: {
    check: checkCommand,
    comment: commentCommand,
    trust: trustRoutes,
    token: command({
      brief: 'Print a token of an hour for this run, for other programs',
      help: 'Commands of mps sign in by themselves in CI, if MPS_URL names the service.\n\nExample:\n  export MLFLOW_TRACKING_TOKEN=$(mps ci token)',
      run: token,
    }),
  },
  defaultCommand: 'check',
  docs: {
    brief: 'Check a commit in CI by gates; sign in from CI without a stored token',
    fullDescription:
      '"mps ci" and "mps ci FILE" check this commit, as "mps ci check" does.\n\nExamples:\n  mps ci\n  mps ci .mps/ci.yaml --dry-run\n  mps ci trust add github OWNER/NAME --project digits',
  },
});
