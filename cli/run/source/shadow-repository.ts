import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git, GitRepository } from './git-repository.ts';

/**
 * Fill an empty folder so that git takes it for the git folder of a repository: its HEAD, links to its objects, references
 * and index, and those of its settings that are plain values.
 *
 * @param git runs in this folder
 */
export async function shadowRepository(
  { gitFolder, common }: GitRepository,
  shadow: string,
  git: Git,
): Promise<void> {
  await copyFile(join(gitFolder, 'HEAD'), join(shadow, 'HEAD'));
  await writeFile(join(shadow, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
  const names = await readdir(gitFolder);
  const own = names.filter((name) => name === 'index' || name.startsWith('sharedindex.'));
  for (const name of own) await symlink(join(gitFolder, name), join(shadow, name));
  for (const name of ['objects', 'refs', 'packed-refs', 'reftable', 'shallow'])
    await symlink(join(common, name), join(shadow, name));
  await mkdir(join(shadow, 'info'));
  await symlink(join(common, 'info', 'exclude'), join(shadow, 'info', 'exclude'));
  await symlink(join(gitFolder, 'info', 'sparse-checkout'), join(shadow, 'info', 'sparse-checkout'));
  const files = [join(common, 'config'), join(gitFolder, 'config.worktree')];
  const settings = await Promise.all(files.map((file) => plainSettings(file, git)));
  await writeFile(join(shadow, 'config'), `[core]\n\tbare = false\n${settings.join('')}`);
}

/** The settings of a file that decide how git reads files, objects and references. None of them names a program or a path. */
async function plainSettings(file: string, git: Git): Promise<string> {
  const listed = await git('config', '-z', '--file', file, '--no-includes', '--list').catch(() => '');
  return listed
    .split('\0')
    .map((entry) => {
      const [name = '', value = 'true'] = entry.split('\n', 2);
      const [section, key] = name.split('.');
      return plain.has(name) && /^\w+$/.test(value) ? `[${section}]\n\t${key} = ${value}\n` : '';
    })
    .join('');
}

const plain: ReadonlySet<string> = new Set([
  ...['repositoryformatversion', 'filemode', 'symlinks', 'ignorecase', 'precomposeunicode', 'longpaths'].map(
    (key) => `core.${key}`,
  ),
  ...['autocrlf', 'eol', 'safecrlf', 'checkstat', 'trustctime', 'sparsecheckout', 'sparsecheckoutcone'].map(
    (key) => `core.${key}`,
  ),
  ...['extensions.objectformat', 'extensions.refstorage', 'index.sparse'],
]);
