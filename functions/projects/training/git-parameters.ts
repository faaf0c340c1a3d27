import { badRequest } from '../../../shared/core/service-error.ts';
import type { Git } from '../../../shared/data/experiments/tracking.ts';
import { GitRule } from '../../../shared/data/rules/tracked.ts';
import { flag } from '../../../shared/http/definition/parameters.ts';

/** Query parameters by which a client says what commit the source of a training is. */
export const gitParameters = {
  git_commit: GitRule.shape.commit
    .optional()
    .describe('Commit of the source, such as `3f2a9c1`; for information only.'),
  git_branch: GitRule.shape.branch.unwrap().optional().describe('Branch of the commit, such as `main`.'),
  git_dirty: flag
    .optional()
    .describe('Whether the source has changes that the commit does not hold: `true` or `false`.'),
};

interface GitQuery {
  git_commit?: string | undefined;
  git_branch?: string | undefined;
  git_dirty?: boolean | undefined;
}

/** The state of the repository that a query tells. @throws ServiceError 400 for a branch or changes of no commit */
export function gitOf({ git_commit: commit, git_branch, git_dirty }: GitQuery): Git | null {
  if (commit !== undefined) return { commit, branch: git_branch ?? null, dirty: git_dirty ?? null };
  const given = Object.entries({ git_branch, git_dirty }).filter(([, value]) => value !== undefined);
  if (given.length === 0) return null;
  throw badRequest(given.map(([name]) => ({ in: 'query', name, message: 'needs git_commit' })));
}
