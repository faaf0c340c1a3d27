import { mkdtemp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../../shared/runner/environment/remove-tree.ts';

/**
 * Takes a folder of environments away from where it is, as on a host that never had it, and removes it when all is
 * done: right after thousands of files were removed, creating as many takes the kernel many times as long.
 */
export async function setAside(
  folder: string,
  dataFolder: string,
  started: AsyncDisposableStack,
): Promise<void> {
  const aside = await mkdtemp(join(dataFolder, 'set-aside-'));
  started.defer(() => removeTree(aside));
  await rename(folder, join(aside, 'environments'));
}
