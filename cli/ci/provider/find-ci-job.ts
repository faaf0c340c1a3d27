import type { CliContext } from '../../context.ts';
import type { CiJob } from './ci-job.ts';
import { githubJob } from './github.ts';
import { gitlabJob } from './gitlab.ts';

/** Find the provider by its variables. */
export async function findCiJob(env: CliContext['env']): Promise<CiJob> {
  if (env['GITHUB_ACTIONS'] === 'true') return githubJob(env);
  return env['GITLAB_CI'] === 'true' ? gitlabJob(env) : nowhere;
}

const nowhere: CiJob = {
  ...{ provider: undefined, request: undefined, shown: undefined, against: undefined, isFork: false },
  ...{ run: '0.1', summary: undefined, lacking: undefined, comments: undefined },
};
