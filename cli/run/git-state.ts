import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Return the commit, the branch, and whether the folder differs from the commit. */
export async function gitState(folder: string): Promise<GitState> {
  const git = async (...args: string[]) =>
    (await execute('git', args, { cwd: folder, maxBuffer: 1 << 26 })).stdout.trim();
  try {
    const [git_commit, branch, changes] = await Promise.all([
      git('rev-parse', 'HEAD'),
      git('rev-parse', '--abbrev-ref', 'HEAD'),
      git('status', '--porcelain', '--', '.'),
    ]);
    // Git calls a detached checkout HEAD.
    const named = branch === 'HEAD' ? {} : { git_branch: branch };
    return { git_commit, ...named, git_dirty: changes !== '' };
  } catch {
    return {};
  }
}

/** State of a repository in the service's fields; empty outside of git and before the first commit. */
export interface GitState {
  git_commit?: string;
  git_branch?: string;
  git_dirty?: boolean;
}

const execute = promisify(execFile);
