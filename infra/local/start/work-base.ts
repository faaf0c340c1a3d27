import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../shared/runner/environment/cache/remove-tree.ts';
import { CommandError } from '../../command/command-error.ts';

/** Where folders lie in which jobs work that cannot pass through to the data folder. */
const usualParent = '/var/tmp';
const prefix = 'model-project-service-';
/** Name of the file in such a folder that holds the path of its data folder. */
const ownerFile = 'data-folder';

const nameFor = (dataFolder: string): string =>
  `${prefix}${createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)}`;

/**
 * The folder of root, in a parent that every user may write to, in which the jobs of a data folder work.
 * @throws CommandError where it belongs to somebody else
 */
export async function workBase(dataFolder: string, parent = usualParent): Promise<string> {
  const folder = join(parent, nameFor(dataFolder));
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) {
    throw new CommandError(`${folder} belongs to somebody else; remove it and try again.`);
  }
  await writeFile(join(folder, ownerFile), dataFolder, { mode: 0o600 });
  return folder;
}

/** The data folder that a folder says it is of; undefined where it does not say so, or another name would be its own. */
async function ownerOf(parent: string, name: string): Promise<string | undefined> {
  const folder = join(parent, name);
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== 0) return undefined;
  const dataFolder = await readFile(join(folder, ownerFile), 'utf8').catch(() => undefined);
  return dataFolder !== undefined && nameFor(dataFolder) === name ? dataFolder : undefined;
}

const isGone = (path: string): Promise<boolean> =>
  stat(path).then(
    () => false,
    (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT',
  );

/**
 * Remove the folders whose data folder was removed: environments take gigabytes, and nobody else would find them.
 * Everything in them can be made anew.
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
