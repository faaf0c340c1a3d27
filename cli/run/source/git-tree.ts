import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { withGit } from './git.ts';
import type { Git } from './git-repository.ts';

/**
 * List a folder with git, with the submodules in it that are checked out. Paths are relative to the folder.
 *
 * @returns undefined outside of git
 */
export async function gitTree(folder: string): Promise<GitTree | undefined> {
  const others = ['--others', '--exclude-standard'];
  try {
    const [tracked, added, untracked, ignored] = await withGit(folder, (git) =>
      Promise.all([
        stagedEntries(git),
        listFiles(git, ...others),
        listFiles(git, ...others, '--directory').catch(() => []),
        listFiles(git, ...others, '--ignored', '--directory').catch(() => []),
      ]),
    );
    const tree: GitTree = {
      files: [...tracked.filter((entry) => !entry.isSubmodule).map(({ path }) => path), ...added],
      untracked: untracked.filter((path) => path.endsWith('/')),
      ignored: withoutParents(ignored),
      absent: [],
    };
    const submodules = new Set(tracked.filter((entry) => entry.isSubmodule).map(({ path }) => path));
    for (const path of submodules) {
      const found = (await isCheckedOut(folder, path)) ? await gitTree(join(folder, path)) : undefined;
      addSubmodule(tree, path, found);
    }
    return { ...tree, files: [...new Set(tree.files)] };
  } catch {
    return undefined;
  }
}

export interface GitTree {
  /** Tracked files, and untracked ones outside of `.gitignore`. */
  files: string[];
  /** Folders without tracked files, each with a slash at its end. */
  untracked: string[];
  /** Files and whole folders that `.gitignore` excludes. Folders end with a slash. */
  ignored: string[];
  /** Submodules that are not checked out. */
  absent: string[];
}

/** An entry of the index. */
interface StagedEntry {
  path: string;
  /** The commit of a submodule, or the digest of a file. */
  object: string;
  isSubmodule: boolean;
}

/** List the index of a folder: lines of mode, object, stage, a tab and the path. */
export async function stagedEntries(git: Git): Promise<StagedEntry[]> {
  const lines = await listFiles(git, '--cached', '--stage');
  return lines.map((line) => {
    const tab = line.indexOf('\t');
    const [mode, object = ''] = line.slice(0, tab).split(' ');
    return { path: line.slice(tab + 1), object, isSubmodule: mode === '160000' };
  });
}

async function listFiles(git: Git, ...args: string[]): Promise<string[]> {
  const output = await git('ls-files', '-z', ...args);
  return output.split('\0').filter((path) => path !== '');
}

/** Drop a folder if git also lists files below it. */
function withoutParents(paths: readonly string[]): string[] {
  const sorted = paths.toSorted();
  return sorted.filter((path, at) => !path.endsWith('/') || sorted[at + 1]?.startsWith(path) !== true);
}

/**
 * Whether a submodule has a repository of its own; git would take it for a folder of the one above it. One behind a link
 * has none: it could contain itself.
 */
export async function isCheckedOut(folder: string, path: string): Promise<boolean> {
  const own = join(folder, path);
  if ((await lstat(join(own, '.git')).catch(() => undefined)) === undefined) return false;
  return (await realpath(own)) === join(await realpath(folder), path);
}

function addSubmodule(tree: GitTree, path: string, found: GitTree | undefined): void {
  if (found === undefined) tree.absent.push(path);
  else
    for (const kind of ['files', 'untracked', 'ignored', 'absent'] as const)
      tree[kind].push(...found[kind].map((one) => `${path}/${one}`));
}
