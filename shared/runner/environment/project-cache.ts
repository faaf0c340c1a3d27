import { createHash } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tryHostLock } from '../../host/host-lock.ts';
import { EnvironmentFolder } from './environment-folder.ts';
import { treeBytes } from './trim-caches.ts';

/** uv's cache of one project: what its builds made, and other things that only it may use. */
export interface ProjectCache {
  /** Put it away until the next build. */
  close(): Promise<void>;
}

/**
 * Bring uv's cache of a project to a path of its build. While no build has it, nobody but the service can reach it: the user
 * of a build may be that of another project's, too. A second build of the project at the same time goes without it.
 *
 * @param root folder of the host's environments
 * @param path a place on the same disk, in a folder that the builder cannot change
 */
export async function openProjectCache(
  root: string,
  projectId: string,
  path: string,
  owner: { uid: number; gid: number } | undefined,
): Promise<ProjectCache> {
  // Another user could not write to it.
  const key = createHash('sha256').update(`${projectId} ${owner?.uid}`).digest('hex');
  const place = new EnvironmentFolder(join(root, buildsFolder), key);
  await mkdir(dirname(place.folder), { recursive: true, mode: 0o700 });
  const lock = await tryHostLock(place.folder);
  if (lock === null) return { close: async () => undefined };
  if ((await place.read()) !== null) await rename(place.folder, path);
  await place.wipe();
  return {
    async close() {
      try {
        await rename(path, place.folder);
        await place.complete({ key, lockHash: '', buildSeconds: 0, bytes: await treeBytes(place.folder) });
      } catch {
        // There is none, or its disk failed: the next build begins with an empty one.
        await place.wipe();
      } finally {
        await lock.release();
      }
    },
  };
}

/** Folder of uv's caches of projects in the folder of environments. Ids of projects do not begin with a dot. */
export const buildsFolder = '.builds';
