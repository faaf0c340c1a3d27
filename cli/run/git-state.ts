import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Commit, branch and whether anything in the folder differs from the commit. */
export async function gitState(folder: string): Promise<GitState> {
  const git = async (...args: string[]) =>
    (await execute('git', args, { cwd: folder, maxBuffer: 1 << 26 })).stdout.trim();
  try {
    const [git_commit, branch, changes] = await Promise.all([
      git('rev-parse', 'HEAD'),
      git('rev-parse', '--abbrev-ref', 'HEAD'),
      git('status', '--porcelain', '--', '.'),
    ]);
    // A checkout of no branch is called HEAD.
    const named = branch === 'HEAD' ? {} : { git_branch: branch };
    return { git_commit, ...named, git_dirty: changes !== '' };
  } catch {
    return {};
  }
}

/** The state of a repository as the service takes it; empty outside of git, and where nothing is committed yet. */
export interface GitState {
  git_commit?: string;
  git_branch?: string;
  git_dirty?: boolean;
}

const execute = promisify(execFile);
