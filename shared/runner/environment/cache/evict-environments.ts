import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { tryHostLock } from '../../host/host-lock.ts';
import { EnvironmentFolder } from './environment-folder.ts';

const suffix = '.complete';

/**
 * Removes environments of this host, least recently used first, until what is left has at most `maxBytes`.
 * Environments that a living process uses, or that are being prepared, stay. Each remains in the store and can be
 * unpacked again. Gives the number removed.
 */
export async function evictEnvironments(root: string, maxBytes: number): Promise<number> {
  const found: { folder: EnvironmentFolder; bytes: number; used: number }[] = [];
  for (const project of await readdir(root, { withFileTypes: true })) {
    if (!project.isDirectory()) continue;
    const projectFolder = join(root, project.name);
    for (const name of await readdir(projectFolder)) {
      if (!name.endsWith(suffix)) continue;
      const folder = new EnvironmentFolder(projectFolder, name.slice(0, -suffix.length));
      const complete = await folder.read();
      const used = await stat(join(projectFolder, name)).then(
        (facts) => facts.mtimeMs,
        () => 0,
      );
      if (complete !== null) found.push({ folder, bytes: complete.bytes, used });
    }
  }
  let total = found.reduce((sum, environment) => sum + environment.bytes, 0);
  let removed = 0;
  for (const { folder, bytes } of found.sort((a, b) => a.used - b.used)) {
    if (total <= maxBytes) break;
    const lock = await tryHostLock(folder.folder);
    if (lock === null) continue;
    try {
      if (await folder.inUse()) continue;
      await folder.wipe();
      total -= bytes;
      removed += 1;
    } finally {
      await lock.release();
    }
  }
  return removed;
}
