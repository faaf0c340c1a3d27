import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs git and returns its output. @throws Error if git is absent, refuses, or has more than 256 MB of output */
type Git = (...args: string[]) => Promise<string>;

/**
 * Return git for a folder. Programs that the repository's own configuration names do not run: a stranger's archive may
 * contain a repository, and only the sandbox of a job may run its code.
 */
export async function gitIn(folder: string): Promise<Git> {
  const options = await withoutFilters(folder);
  return (...args) => run(folder, [...options, ...args]);
}

async function run(folder: string, args: readonly string[]): Promise<string> {
  const all = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', ...args];
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
  return (await execute('git', all, { cwd: folder, env, maxBuffer: 1 << 28 })).stdout;
}

/** Options that blank the repository's own filters. Those of the user stay, such as that of Git LFS. */
async function withoutFilters(folder: string): Promise<string[]> {
  const listed = ['config', '-z', '--show-scope', '--name-only', '--get-regexp', '^filter\\.'];
  // It fails where no filter is set.
  const fields = (await run(folder, listed).catch(() => '')).split('\0');
  return fields.flatMap((name, at) =>
    ['local', 'worktree'].includes(fields[at - 1] ?? '') && at % 2 === 1 ? ['-c', `${name}=`] : [],
  );
}

const execute = promisify(execFile);
