import { join } from 'node:path';
import { withGit } from './git.ts';
import type { Git } from './git-repository.ts';
import { isCheckedOut, stagedEntries } from './git-tree.ts';

/** Return the commit, the branch, whether the folder differs from the commit, and where its repository begins. */
export async function gitState(folder: string): Promise<{ state: GitState; above: string | undefined }> {
  const read = withGit(folder, async (git, within) => ({
    state: await readState(git, folder).catch(() => ({})),
    above: within === '' ? undefined : within.replace(/[^/]+/g, '..'),
  }));
  return read.catch(() => ({ state: {}, above: undefined }));
}

/** State of a repository in the service's fields; empty outside of git and before the first commit. */
export interface GitState {
  git_commit?: string;
  git_branch?: string;
  git_dirty?: boolean;
}

async function readState(
  git: Git,
  folder: string,
): Promise<Required<Omit<GitState, 'git_branch'>> & GitState> {
  const [git_commit, branch, changes] = await Promise.all([
    git('rev-parse', 'HEAD'),
    git('rev-parse', '--abbrev-ref', 'HEAD'),
    git('status', '--porcelain', '--ignore-submodules=all', '--', '.'),
  ]);
  // Git calls a detached checkout HEAD.
  const named = branch.trim() === 'HEAD' ? {} : { git_branch: branch.trim() };
  const git_dirty = changes !== '' || (await hasChangedSubmodule(git, folder));
  return { git_commit: git_commit.trim(), ...named, git_dirty };
}

/**
 * Whether a submodule that is checked out has another commit than the index, or changes of its own. Git would look with its
 * configuration.
 */
async function hasChangedSubmodule(git: Git, folder: string): Promise<boolean> {
  for (const { path, object, isSubmodule } of await stagedEntries(git)) {
    if (!isSubmodule || !(await isCheckedOut(folder, path))) continue;
    const { git_commit, git_dirty } = (await gitState(join(folder, path))).state;
    if (git_commit !== object || git_dirty === true) return true;
  }
  return false;
}
