import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { projectKey } from '../../../shared/data/projects/project.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { hasCode } from '../../../shared/host/has-code.ts';
import { tryHostLock } from '../../../shared/host/host-lock.ts';
import { EnvironmentFolder } from '../../../shared/runner/environment/environment-folder.ts';
import { removeTree } from '../../../shared/runner/environment/remove-tree.ts';
import { removeShortLink } from '../../../shared/runner/job/workspace.ts';

/**
 * Return deleted projects that still have environments on this host. A pass looks at a hundred projects, so that it
 * costs the same with thousands; the next pass looks at the next ones.
 * @param pass number of the pass
 */
export async function goneProjects(
  records: Pick<TableReader<'records'>, 'batchGet'>,
  environments: string,
  pass = 0,
): Promise<string[]> {
  const names = await projectsIn(environments);
  const turn = pass % Math.max(1, Math.ceil(names.length / projectsAtOnce));
  const some = names.slice(turn * projectsAtOnce, (turn + 1) * projectsAtOnce);
  const items = await records.batchGet(some.map(projectKey));
  return some.filter((_, index) => items[index] === undefined);
}

/** Keys of one read. */
const projectsAtOnce = 100;

/** Return the projects of a folder of environments. Skip its folders that all projects share: they begin with a dot. */
export const projectsIn = async (environments: string): Promise<string[]> =>
  (await namesIn(environments)).filter((name) => !name.startsWith('.'));

/** Return the names in a folder, or none if it is missing. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/**
 * Remove the folders of these runs. If one cannot be removed, continue with the others; the next start tries it
 * again.
 */
export async function removeRuns(work: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await removeShortLink(join(work, name));
    await removeTree(join(work, name)).catch((error: unknown) => {
      process.stderr.write(`A folder of an earlier run stays: ${String(error)}\n`);
    });
  }
}

/** Remove all environments of a project from this host. Return false if a process still uses or prepares one. */
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

/** Return the disk usage of a file or folder in bytes. A sparse file counts only its allocated blocks. */
export async function diskUse(path: string): Promise<number> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined) return 0;
  let bytes = facts.blocks * 512;
  if (!facts.isDirectory()) return bytes;
  for (const name of await readdir(path).catch(() => [])) bytes += await diskUse(join(path, name));
  return bytes;
}
