import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError } from '../../command/command-error.ts';
import type { DataFolder } from './data-folder.ts';

export interface JobFolders {
  work: string;
  environments: string;
}

/** Whether users other than the owner may pass through a folder and all above it. */
export async function isOpen(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  const above = dirname(folder);
  return above === folder || isOpen(above);
}

/** A folder of root in a parent folder that every user may write to. */
async function ownFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) {
    throw new CommandError(`${folder} belongs to somebody else; remove it and try again.`);
  }
  return folder;
}

/**
 * Where jobs work. Started as root, jobs run as users without rights, who must be able to pass through to their
 * folders: the data folder lets them (nothing else in it is readable for them), and where a folder above it does
 * not, they work below /var/tmp.
 */
export async function jobFolders({ path, within }: DataFolder): Promise<JobFolders> {
  let base = path;
  if (process.getuid?.() === 0) {
    if (await isOpen(dirname(path))) {
      await chmod(path, 0o711);
    } else {
      const name = createHash('sha256').update(path).digest('hex').slice(0, 12);
      base = await ownFolder(`/var/tmp/model-project-service-${name}`);
    }
  }
  const folders = { work: join(base, 'work'), environments: join(base, 'environments') };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true, mode: 0o711 });
  if (base === path) await mkdir(within('logs'), { recursive: true, mode: 0o700 });
  // Sandboxes bind folders at their real paths.
  return { work: await realpath(folders.work), environments: await realpath(folders.environments) };
}
