import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** A repository, and the folder in it that was asked for. All paths are absolute, without links. */
export interface GitRepository {
  folder: string;
  /** The folder of the files. */
  top: string;
  /** The path from `top` to `folder`, with `/` between names; '' for the top. */
  within: string;
  /** Where git keeps what belongs to this checkout: HEAD and index. */
  gitFolder: string;
  /** Where git keeps what all worktrees share: objects and references. */
  common: string;
}

/**
 * Find the repository of a folder, as git does: the nearest folder with a `.git`, which is a folder, or a file of a
 * submodule or worktree that names one. A folder that is itself a bare repository does not count.
 *
 * @returns undefined outside of git
 */
export async function findRepository(given: string): Promise<GitRepository | undefined> {
  const folder = await realpath(given);
  for (let top = folder; ; top = dirname(top)) {
    const gitFolder = await gitFolderOf(join(top, '.git'));
    if (gitFolder !== undefined) {
      const shared = await readFile(join(gitFolder, 'commondir'), 'utf8').catch(() => '.');
      const within = relative(top, folder).replaceAll(sep, '/');
      return { folder, top, within, gitFolder, common: resolve(gitFolder, shared.trim()) };
    }
    if (top === dirname(top)) return undefined;
  }
}

async function gitFolderOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  const [, named] =
    found?.isFile() === true ? (/^gitdir: (.+)$/m.exec(await readFile(path, 'utf8')) ?? []) : [];
  const folder = named === undefined ? path : resolve(dirname(path), named.trim());
  const isGit = (await stat(join(folder, 'HEAD')).catch(() => undefined))?.isFile() === true;
  return isGit ? realpath(folder) : undefined;
}

/** Runs git and returns its output. @throws Error if git is absent, refuses, or has more than 256 MB of output */
export type Git = (...args: string[]) => Promise<string>;
