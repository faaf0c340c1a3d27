import * as z from 'zod/mini';
import type { CliContext } from '../../context.ts';
import type { Comments } from '../sticky-comment.ts';
import type { CiJob } from './ci-job.ts';
import { isDone, ProviderApi } from './provider-api.ts';

/** Read where a job of GitLab runs, from its variables. */
export function gitlabJob(env: CliContext['env']): CiJob {
  const { CI_MERGE_REQUEST_IID, CI_MERGE_REQUEST_PROJECT_ID: project = '' } = env;
  const request = CI_MERGE_REQUEST_IID ? Number(CI_MERGE_REQUEST_IID) : undefined;
  const token = env['GITLAB_TOKEN'];
  // A member may run the pipeline of a fork's request in this project.
  const isFork =
    request !== undefined && (env['CI_PROJECT_ID'] || env['CI_MERGE_REQUEST_SOURCE_PROJECT_ID']) !== project;
  return {
    provider: 'gitlab',
    request,
    // A pipeline of merged results runs on a commit that nobody sees.
    shown: env['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'] || env['CI_COMMIT_SHA'] || undefined,
    against: env['CI_MERGE_REQUEST_TARGET_BRANCH_NAME'] || undefined,
    isFork,
    run: `${env['CI_PIPELINE_ID'] || 0}.${env['CI_JOB_ID'] || 1}`,
    summary: undefined,
    lacking: isFork ? forkAdvice : token ? undefined : tokenAdvice,
    comments:
      request === undefined || !token
        ? undefined
        : gitlabComments(env['CI_API_V4_URL'] || 'https://gitlab.com/api/v4', token, project, request),
  };
}

const tokenAdvice =
  'Set GITLAB_TOKEN to a project access token with the scope api: the token of a job cannot comment. mps-ci.md has the report.';
const forkAdvice =
  'A merge request of a fork runs in the fork, which has no token of this project. Run its pipeline in this project, or read mps-ci.md, an artifact of the job.';

/** The notes of a merge request. */
function gitlabComments(url: string, token: string, project: string, number: number): Comments {
  const api = new ProviderApi({ url, token, headers: { 'PRIVATE-TOKEN': token } });
  const path = `/projects/${encodeURIComponent(project)}/merge_requests/${number}`;
  let author: Promise<number> | undefined;
  return {
    async list() {
      author ??= api.send('GET', '/user').then(({ json }) => User.parse(json).id);
      const id = await author;
      const rows: z.infer<typeof Notes> = [];
      for (let page = '1'; page !== ''; ) {
        const query = `sort=asc&order_by=created_at&per_page=100&page=${page}`;
        const { json, headers } = await api.send('GET', `${path}/notes?${query}`);
        rows.push(...Notes.parse(json));
        page = headers.get('x-next-page') ?? '';
      }
      return rows.filter((note) => note.author.id === id && !note.system);
    },
    async create(body) {
      await api.send('POST', `${path}/notes`, { body: { body } });
    },
    async update(id, body) {
      return isDone(api.send('PUT', `${path}/notes/${id}`, { body: { body }, again: false }));
    },
    async remove(id) {
      await isDone(api.send('DELETE', `${path}/notes/${id}`));
    },
    async head() {
      return MergeRequest.parse((await api.send('GET', path)).json).sha ?? undefined;
    },
  };
}

const User = z.object({ id: z.int() });
const Notes = z.array(
  z.object({ id: z.int(), body: z.string(), system: z.boolean(), author: z.object({ id: z.int() }) }),
);
const MergeRequest = z.object({ sha: z.nullable(z.string()) });
