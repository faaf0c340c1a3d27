import { randomUUID } from 'node:crypto';
import { readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { thisHost } from '../../host/this-host.ts';
import { removeTree } from './remove-tree.ts';

/** Folder of uv's cache of all projects in the folder of environments. Ids of projects do not begin with a dot. */
export const wheelsFolder = '.uv';

/** Install from the cache of a host. No wheel is removed from it meanwhile. */
export async function withWheels<T>(host: string, install: () => Promise<T>): Promise<T> {
  const mark = join(host, `${usePrefix}${randomUUID()}-${await thisHost.identityOf(process.pid)}`);
  await writeFile(mark, '', { flag: 'wx' });
  try {
    return await install();
  } finally {
    await rm(mark, { force: true });
  }
}

/** Whether a running process installs from the cache of a host. */
export async function wheelsInUse(host: string): Promise<boolean> {
  let used = false;
  for (const name of await readdir(host)) {
    if (!name.startsWith(usePrefix)) continue;
    if (await thisHost.isRunning(name.slice(usePrefix.length + randomUUID().length + 1))) used = true;
    else await rm(join(host, name), { force: true });
  }
  return used;
}

const usePrefix = 'used-';

/**
 * Remove an unpacked wheel from the cache of a host. First, what says that it is there: uv would look for it for ever.
 *
 * @param pointers from `wheelPointers`
 */
export async function removeWheel(archive: string, pointers: ReadonlyMap<string, string[]>): Promise<void> {
  for (const pointer of pointers.get(archive) ?? [])
    for (const ending of ['.rev', '.http', '']) await rm(`${pointer}${ending}`, { force: true });
  await removeTree(archive);
}

/** The links to the unpacked wheels of a host, by their paths. Beside each is a file with the facts of the wheel. */
export async function wheelPointers(host: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const bucket of await readdir(host)) {
    if (!/^wheels-v\d+$/.test(bucket)) continue;
    for (const entry of await readdir(join(host, bucket), { recursive: true, withFileTypes: true })) {
      if (!entry.isSymbolicLink()) continue;
      const path = join(entry.parentPath, entry.name);
      const archive = join(dirname(path), await readlink(path));
      found.set(archive, [...(found.get(archive) ?? []), path]);
    }
  }
  return found;
}
