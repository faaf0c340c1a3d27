import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import type { Comments } from '../sticky-comment.ts';
import type { CiJob } from './ci-job.ts';
import { type Answer, isDone, ProviderApi, ProviderError } from './provider-api.ts';

/** Read where a job of GitHub Actions runs, from its variables and its event. */
export async function githubJob(env: CliContext['env']): Promise<CiJob> {
  const { GITHUB_EVENT_PATH, GITHUB_REPOSITORY = '', GITHUB_RUN_ID = '' } = env;
  const event = Event.safeParse(await readEvent(GITHUB_EVENT_PATH));
  const token = env['GITHUB_TOKEN'] || env['GH_TOKEN'];
  const url = env['GITHUB_API_URL'] || 'https://api.github.com';
  const { pull_request: request } = event.success ? event.data : {};
  const isFork = request !== undefined && request.head.repo?.full_name !== request.base.repo.full_name;
  return {
    provider: 'github',
    request: request?.number,
    shown: request?.head.sha,
    against: request?.base.ref,
    isFork,
    run: `${GITHUB_RUN_ID || 0}.${env['GITHUB_RUN_ATTEMPT'] || 1}`,
    summary: env['GITHUB_STEP_SUMMARY'] || undefined,
    lacking: isFork ? forkAdvice : token ? undefined : tokenAdvice,
    comments:
      request === undefined || !token
        ? undefined
        : githubComments(apiOf(url, token), GITHUB_REPOSITORY, request.number),
  };
}

const tokenAdvice = `Give the step "env: { GITHUB_TOKEN: $\{{ github.token }} }".`;

const repository = z.object({ full_name: z.string() });
const Event = z.object({
  pull_request: z.optional(
    z.object({
      number: z.int(),
      head: z.object({ sha: z.string(), repo: z.nullable(repository) }),
      base: z.object({ ref: z.string(), repo: repository }),
    }),
  ),
});

async function readEvent(path: string | undefined): Promise<unknown> {
  if (!path) return {};
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return {};
  }
}

const forkAdvice =
  'A pull request of a fork has a token that only reads; the summary of the job has the report. Upload mps-ci.json as an artifact, and let a second workflow "on: workflow_run" comment with "mps ci comment mps-ci.json", as the README of the command shows. Never check a fork out in "pull_request_target".';

/**
 * Find the open pull request of the run that has ended, in a job "on: workflow_run". Its event is GitHub's; what the run
 * left is a stranger's.
 *
 * @throws CliError outside of such a job, and if the pull request has moved on
 */
export async function requestOfRun(
  env: CliContext['env'],
): Promise<{ comments: Comments; sha: string; run: string }> {
  const event = RunEvent.safeParse(await readEvent(env['GITHUB_EVENT_PATH']));
  const token = env['GITHUB_TOKEN'] || env['GH_TOKEN'];
  if (!event.success)
    throw new CliError('This is no job "on: workflow_run" after a pull request.', exitCodes.usage);
  if (!token) throw new CliError(tokenAdvice, exitCodes.usage);
  const { head_sha: sha, head_branch, head_repository, id, run_attempt } = event.data.workflow_run;
  const api = apiOf(env['GITHUB_API_URL'] || 'https://api.github.com', token);
  const name = env['GITHUB_REPOSITORY'] ?? '';
  const head = encodeURIComponent(`${head_repository.owner.login}:${head_branch}`);
  const { json } = await api.send('GET', `${pathOf(name)}/pulls?state=open&per_page=100&head=${head}`);
  const request = z
    .array(z.extend(Request, { number: z.int() }))
    .parse(json)
    .find((row) => row.head.sha === sha);
  if (request === undefined)
    throw new CliError(`No open pull request has the commit ${sha.slice(0, 10)} any more.`);
  return { comments: githubComments(api, name, request.number), sha, run: `${id}.${run_attempt}` };
}

const RunEvent = z.object({
  workflow_run: z.object({
    head_sha: z.string(),
    head_branch: z.string(),
    head_repository: z.object({ owner: z.object({ login: z.string() }) }),
    id: z.int(),
    run_attempt: z.int(),
  }),
});

const apiOf = (url: string, token: string): ProviderApi =>
  new ProviderApi({
    ...{ url, token },
    headers: {
      Accept: 'application/vnd.github+json',
      Authorization: `Bearer ${token}`,
      'X-GitHub-Api-Version': '2022-11-28',
    },
  });

const pathOf = (name: string): string => `/repos/${name.split('/').map(encodeURIComponent).join('/')}`;

/** The comments of a pull request. */
function githubComments(api: ProviderApi, name: string, number: number): Comments {
  const path = pathOf(name);
  let author: Promise<string | undefined> | undefined;
  return {
    async list() {
      author ??= loginOf(api);
      const login = await author;
      const rows: z.infer<typeof Rows> = [];
      for (let page = 1; ; page += 1) {
        const answer = await api.send('GET', `${path}/issues/${number}/comments?per_page=100&page=${page}`);
        rows.push(...Rows.parse(answer.json));
        if (!hasNext(answer)) break;
      }
      return rows.flatMap(({ id, body, user }) =>
        (login === undefined ? user?.type === 'Bot' : user?.login === login)
          ? [{ id, body: body ?? '' }]
          : [],
      );
    },
    async create(body) {
      await api.send('POST', `${path}/issues/${number}/comments`, { body: { body } });
    },
    async update(id, body) {
      return isDone(api.send('PATCH', `${path}/issues/comments/${id}`, { body: { body }, again: false }));
    },
    async remove(id) {
      await isDone(api.send('DELETE', `${path}/issues/comments/${id}`));
    },
    async head() {
      const { json } = await api.send('GET', `${path}/pulls/${number}`);
      return Request.parse(json).head.sha;
    },
  };
}

const Rows = z.array(
  z.object({
    id: z.int(),
    body: z.optional(z.string()),
    user: z.nullable(z.object({ login: z.string(), type: z.string() })),
  }),
);
const Request = z.object({ head: z.object({ sha: z.string() }) });
const User = z.object({ login: z.string() });

/** The name behind a token. The token of a job has none that it may read: its comments are those of a bot. */
async function loginOf(api: ProviderApi): Promise<string | undefined> {
  try {
    return User.parse((await api.send('GET', '/user')).json).login;
  } catch (error) {
    if (error instanceof ProviderError && error.status === 403) return undefined;
    throw error;
  }
}

const hasNext = ({ headers }: Answer): boolean => /rel="next"/.test(headers.get('link') ?? '');
