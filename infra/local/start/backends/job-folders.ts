import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { workBase } from '../work-base.ts';

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
      base = await workBase(path);
    }
  }
  const folders = { work: join(base, 'work'), environments: join(base, 'environments') };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true, mode: 0o711 });
  if (base === path) await mkdir(within('logs'), { recursive: true, mode: 0o700 });
  // Sandboxes bind folders at their real paths.
  return { work: await realpath(folders.work), environments: await realpath(folders.environments) };
}
