import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { projectKey } from '../../../shared/data/projects/project.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { downloadsFolder } from '../../../shared/runner/environment/downloads/download-cache.ts';
import { EnvironmentFolder } from '../../../shared/runner/environment/environment-folder.ts';
import { removeTree } from '../../../shared/runner/environment/remove-tree.ts';
import { reuseFolder } from '../../../shared/runner/environment/shared-environment.ts';
import { tryHostLock } from '../../../shared/runner/host/host-lock.ts';

/** The projects that have environments on this host and are no more. */
export async function goneProjects(
  records: Pick<TableReader<'records'>, 'batchGet'>,
  environments: string,
): Promise<string[]> {
  const names = await projectsIn(environments);
  const gone: string[] = [];
  for (let first = 0; first < names.length; first += 100) {
    const some = names.slice(first, first + 100);
    const items = await records.batchGet(some.map(projectKey));
    gone.push(...some.filter((_, index) => items[index] === undefined));
  }
  return gone;
}

/** The projects of a folder of environments. What all projects share lies there as well. */
export const projectsIn = async (environments: string): Promise<string[]> =>
  (await namesIn(environments)).filter((name) => name !== downloadsFolder && name !== reuseFolder);

/** Names in a folder; none where it is missing. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Remove the folders of these runs. One that cannot be removed keeps no other, and is tried again by the next start. */
export async function removeRuns(work: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await removeTree(join(work, name)).catch((error: unknown) => {
      process.stderr.write(`A folder of an earlier run stays: ${String(error)}\n`);
    });
  }
}

/** Remove all environments of a project from this host; false where a process still uses or prepares one. */
export async function removeEnvironments(environments: string, project_id: string): Promise<boolean> {
  const folder = join(environments, project_id);
  const keys = new Set((await namesIn(folder)).map((name) => name.split('.', 1)[0] ?? name));
  for (const key of keys) {
    const environment = new EnvironmentFolder(folder, key);
    const lock = await tryHostLock(environment.folder);
    if (lock === null) return false;
    try {
      if (await environment.inUse()) return false;
      await environment.wipe();
    } finally {
      await lock.release();
    }
  }
  await removeTree(folder);
  return true;
}

/** Bytes that a file or folder takes on the disk: sparse files count what is there. */
export async function diskUse(path: string): Promise<number> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined) return 0;
  let bytes = facts.blocks * 512;
  if (!facts.isDirectory()) return bytes;
  for (const name of await readdir(path).catch(() => [])) bytes += await diskUse(join(path, name));
  return bytes;
}
