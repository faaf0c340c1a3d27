import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../../shared/host/has-code.ts';
import { removeTree } from '../../../shared/runner/environment/remove-tree.ts';
import { CommandError } from '../../command/command-error.ts';
import type { DataFolder } from './data-folder.ts';

/**
 * Return the folders of the jobs. If the service runs as root, jobs run as unprivileged users, who must be able to
 * traverse to their folders. The data folder allows that, and nothing else in it is readable for them. If a folder
 * above it does not allow that, jobs work below /var/tmp.
 */
export async function jobFolders({ path, within }: DataFolder): Promise<JobFolders> {
  let base = path;
  if (process.getuid?.() === 0) {
    if (await isOpen(dirname(path))) {
      await chmod(path, 0o711);
    } else {
      base = await workBase(path);
    }
  }
  const folders = { work: join(base, 'work'), environments: join(base, 'environments') };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true, mode: 0o711 });
  if (base === path) await mkdir(within('logs'), { recursive: true, mode: 0o700 });
  // Sandboxes mount folders at their real paths.
  return { work: await realpath(folders.work), environments: await realpath(folders.environments) };
}

export interface JobFolders {
  work: string;
  environments: string;
}

/** Whether other users may traverse a folder and all its parents. */
export async function isOpen(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  const above = dirname(folder);
  return above === folder || isOpen(above);
}

/** Parent of the folders for jobs that cannot traverse to the data folder. */
const usualParent = '/var/tmp';

/** Name of the file in such a folder that stores the path of its data folder. */
const ownerFile = 'data-folder';

/**
 * Return root's folder for the jobs of a data folder. Its parent is writable for every user.
 * @throws CommandError if the folder belongs to another user
 */
export async function workBase(dataFolder: string, parent = usualParent): Promise<string> {
  const folder = join(parent, nameFor(dataFolder));
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const stats = await lstat(folder);
  if (!stats.isDirectory() || stats.uid !== 0 || (stats.mode & 0o022) !== 0) {
    throw new CommandError(`${folder} belongs to another user. Remove it and try again.`);
  }
  await writeFile(join(folder, ownerFile), dataFolder, { mode: 0o600 });
  return folder;
}

const prefix = 'model-project-service-';

const nameFor = (dataFolder: string): string =>
  `${prefix}${createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)}`;

/**
 * Remove folders whose data folder no longer exists. Environments take gigabytes, and nobody else would find them.
 * The service can recreate all their content.
 */
export async function removeForsaken(parent = usualParent): Promise<void> {
  const names = await readdir(parent).catch((): string[] => []);
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const owner = await ownerOf(parent, name).catch(() => undefined);
    if (owner === undefined || !(await isGone(owner))) continue;
    await removeTree(join(parent, name)).catch((error: unknown) => {
      process.stderr.write(`A folder without a service stays: ${String(error)}\n`);
    });
  }
}

/**
 * Return the data folder that a folder names as its owner. Return undefined if it names none, or if that data
 * folder would use another folder name.
 */
async function ownerOf(parent: string, name: string): Promise<string | undefined> {
  const folder = join(parent, name);
  const stats = await lstat(folder);
  if (!stats.isDirectory() || stats.uid !== 0) return undefined;
  const dataFolder = await readFile(join(folder, ownerFile), 'utf8').catch(() => undefined);
  return dataFolder !== undefined && nameFor(dataFolder) === name ? dataFolder : undefined;
}

const isGone = (path: string): Promise<boolean> =>
  stat(path).then(
    () => false,
    (error: unknown) => hasCode(error, 'ENOENT'),
  );
