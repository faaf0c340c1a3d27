import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folders = [
  { folder: join(import.meta.dirname, 'modules'), pattern: '**/*.py' },
  { folder: join(import.meta.dirname, '../../../python'), pattern: 'mps/**/*.py' },
];

/**
 * Return the Python modules that stand in for trackers, and the package of this service, by path. A bundle contains them: `infra/service/bundle-options.ts`
 * replaces this file there.
 */
export async function trackerSources(): Promise<Readonly<Record<string, string>>> {
  const sources = await Promise.all(
    folders.map(async ({ folder, pattern }) => {
      const paths = (await Array.fromAsync(glob(pattern, { cwd: folder }))).toSorted();
      const read = async (path: string) => [path, await readFile(join(folder, path), 'utf8')] as const;
      return Promise.all(paths.map(read));
    }),
  );
  return Object.fromEntries(sources.flat());
}
