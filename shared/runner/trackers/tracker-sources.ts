import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'modules');

/**
 * Return the Python modules that stand in for trackers, by path. A bundle contains them: `infra/service/bundle-options.ts`
 * replaces this file there.
 */
export async function trackerSources(): Promise<Readonly<Record<string, string>>> {
  const paths = (await Array.fromAsync(glob('**/*.py', { cwd: folder }))).toSorted();
  const read = async (path: string) => [path, await readFile(join(folder, path), 'utf8')] as const;
  return Object.fromEntries(await Promise.all(paths.map(read)));
}
