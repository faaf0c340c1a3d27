import { constants } from 'node:fs';
import {
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { holdsPath } from '../pack/pack-environment.ts';

export interface LinkedTree {
  from: string;
  to: string;
  /** The path that files of `from` hold. */
  builtAt: string;
  canLink: boolean;
}

/**
 * Make a sealed virtual environment again in another folder. Its files are linked where they are root's and programs of
 * jobs are not; else they are copied with their times, without which compiled modules do not count. Files that hold the
 * folder's path get the new one.
 */
export async function linkTree(tree: LinkedTree, path = ''): Promise<void> {
  const source = join(tree.from, path);
  const target = join(tree.to, path);
  await mkdir(target, { mode: 0o755 });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const within = path === '' ? entry.name : `${path}/${entry.name}`;
    const [old, made] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await linkTree(tree, within);
    else if (entry.isSymbolicLink()) await symlink(await readlink(old), made);
    else if (holdsPath(within)) await rewrite(old, made, tree);
    else if (tree.canLink) await link(old, made);
    else await copy(old, made);
  }
}

async function rewrite(old: string, made: string, { builtAt, to }: LinkedTree): Promise<void> {
  const { mode } = await lstat(old);
  const text = (await readFile(old, 'latin1')).replaceAll(builtAt, to);
  await writeFile(made, text, { flag: 'wx', mode: mode & 0o777, encoding: 'latin1' });
}

async function copy(old: string, made: string): Promise<void> {
  const { atime, mtime } = await lstat(old);
  await copyFile(old, made, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await utimes(made, atime, mtime);
}
