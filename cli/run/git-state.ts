import { gitIn } from './git.ts';

/** Return the commit, the branch, whether the folder differs from the commit, and where its repository begins. */
export async function gitState(folder: string): Promise<{ state: GitState; above: string | undefined }> {
  const run = await gitIn(folder);
  const git = async (...args: string[]) => (await run(...args)).trim();
  try {
    const [git_commit, branch, changes, above] = await Promise.all([
      git('rev-parse', 'HEAD'),
      git('rev-parse', '--abbrev-ref', 'HEAD'),
      git('status', '--porcelain', '--', '.'),
      git('rev-parse', '--show-cdup'),
    ]);
    // Git calls a detached checkout HEAD.
    const named = branch === 'HEAD' ? {} : { git_branch: branch };
    return {
      state: { git_commit, ...named, git_dirty: changes !== '' },
      above: above === '' ? undefined : above.replace(/\/$/, ''),
    };
  } catch {
    return { state: {}, above: undefined };
  }
}

/** State of a repository in the service's fields; empty outside of git and before the first commit. */
export interface GitState {
  git_commit?: string;
  git_branch?: string;
  git_dirty?: boolean;
}
