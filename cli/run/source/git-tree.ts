import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { gitIn } from './git.ts';

/**
 * List a folder with git, with the submodules in it that are checked out. Paths are relative to the folder.
 *
 * @returns undefined outside of git
 */
export async function gitTree(folder: string): Promise<GitTree | undefined> {
  const git = await gitIn(folder);
  const listed = async (...args: string[]): Promise<string[]> => {
    const output = await git('ls-files', '-z', ...args);
    return output.split('\0').filter((path) => path !== '');
  };
  const others = ['--others', '--exclude-standard'];
  try {
    const [staged, added, untracked, ignored] = await Promise.all([
      listed('--cached', '--stage'),
      listed(...others),
      listed(...others, '--directory').catch(() => []),
      listed(...others, '--ignored', '--directory').catch(() => []),
    ]);
    const tracked = staged.map(stagedEntry);
    const tree: GitTree = {
      files: [...tracked.filter((entry) => !entry.isSubmodule).map(({ path }) => path), ...added],
      untracked: untracked.filter((path) => path.endsWith('/')),
      ignored: withoutParents(ignored),
      absent: [],
    };
    const submodules = new Set(tracked.filter((entry) => entry.isSubmodule).map(({ path }) => path));
    for (const path of submodules) addSubmodule(tree, path, await submoduleTree(join(folder, path)));
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

/** Mode of an entry that is a commit of another repository. */
const submoduleMode = '160000';

/** Read a line of `git ls-files --stage`: mode, object, stage, a tab and the path. */
function stagedEntry(line: string): { path: string; isSubmodule: boolean } {
  const tab = line.indexOf('\t');
  return { path: line.slice(tab + 1), isSubmodule: line.startsWith(`${submoduleMode} `) };
}

/** Leave out folders of which git lists the content, too: it does so for untracked ones with nothing else. */
function withoutParents(paths: readonly string[]): string[] {
  const sorted = paths.toSorted();
  return sorted.filter((path, at) => !path.endsWith('/') || sorted[at + 1]?.startsWith(path) !== true);
}

/** A folder without a repository of its own would be listed as a folder of the one above it. */
async function submoduleTree(folder: string): Promise<GitTree | undefined> {
  const isCheckedOut = (await lstat(join(folder, '.git')).catch(() => undefined)) !== undefined;
  return isCheckedOut ? gitTree(folder) : undefined;
}

function addSubmodule(tree: GitTree, path: string, found: GitTree | undefined): void {
  if (found === undefined) tree.absent.push(path);
  else
    for (const kind of ['files', 'untracked', 'ignored', 'absent'] as const)
      tree[kind].push(...found[kind].map((one) => `${path}/${one}`));
}
