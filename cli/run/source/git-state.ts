import { gitIn } from './git.ts';

/** Return the commit, the branch, whether the folder differs from the commit, and where its repository begins. */
export async function gitState(folder: string): Promise<{ state: GitState; above: string | undefined }> {
  const run = await gitIn(folder);
  const git = async (...args: string[]) => (await run(...args)).trim();
  const up = await git('rev-parse', '--show-cdup').catch(() => '');
  const above = up === '' ? undefined : up.replace(/\/$/, '');
  try {
    const [git_commit, branch, changes] = await Promise.all([
      git('rev-parse', 'HEAD'),
      git('rev-parse', '--abbrev-ref', 'HEAD'),
      git('status', '--porcelain', '--', '.'),
    ]);
    // Git calls a detached checkout HEAD.
    const named = branch === 'HEAD' ? {} : { git_branch: branch };
    return { state: { git_commit, ...named, git_dirty: changes !== '' }, above };
  } catch {
    return { state: {}, above };
  }
}

/** State of a repository in the service's fields; empty outside of git and before the first commit. */
export interface GitState {
  git_commit?: string;
  git_branch?: string;
  git_dirty?: boolean;
}
