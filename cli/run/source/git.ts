import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findRepository, type Git } from './git-repository.ts';
import { shadowRepository } from './shadow-repository.ts';

/**
 * Use git in a folder of a repository. Git does not read the repository's own configuration, which can name programs: a
 * stranger's archive may contain a repository, and only the sandbox of a job may run its code. Git reads a new folder with
 * the repository's objects, references and index, and the settings of the user.
 *
 * @param use gets git, and the path from the repository's top to the folder: '' for the top
 * @throws Error outside of a repository, or if git is absent or refuses
 */
export async function withGit<T>(folder: string, use: (git: Git, within: string) => Promise<T>): Promise<T> {
  const repository = await findRepository(folder);
  if (repository === undefined) throw new Error(`${folder} is in no git repository`);
  const shadow = await mkdtemp(join(tmpdir(), 'mps-git-'));
  try {
    const run = (args: readonly string[]) =>
      runGit(args, { cwd: repository.folder, gitFolder: shadow, top: repository.top });
    await shadowRepository(repository, shadow, (...args) => run(args));
    return await use((...args) => run(args), repository.within);
  } finally {
    await rm(shadow, { recursive: true, force: true });
  }
}

interface Place {
  cwd: string;
  gitFolder: string;
  top: string;
}

async function runGit(args: readonly string[], { cwd, gitFolder, top }: Place): Promise<string> {
  // What the user has configured for all repositories starts nothing either, except filters such as that of Git LFS.
  const all = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', ...args];
  const own = { GIT_DIR: gitFolder, GIT_WORK_TREE: top, GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1' };
  const env = { ...withoutRepository(process.env), ...own };
  return (await execute('git', all, { cwd, env, maxBuffer: 1 << 28 })).stdout;
}

/** The variables without those of another repository, which a hook of git has. */
const withoutRepository = (variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(variables).filter(
      ([name]) => !/^GIT_/.test(name) || /^GIT_(?:CONFIG_|EXEC_PATH)/.test(name),
    ),
  );

const execute = promisify(execFile);
