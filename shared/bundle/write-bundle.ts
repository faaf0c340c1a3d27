import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a bundler made: the files, and the sources that they are of, as paths within the project. */
export interface Bundle {
  files: readonly { name: string; contents: Uint8Array | string }[];
  sources: readonly string[];
}

/**
 * Writes a bundle, and notes beside it the sizes and times of its sources, by which `isFreshBundle` knows whether it is
 * still of them. Each file appears whole; the note comes last.
 *
 * @param root folder of the project
 */
export async function writeBundle(root: string, folder: string, { files, sources }: Bundle): Promise<void> {
  await mkdir(folder, { recursive: true });
  const noted = await Promise.all(
    sources.map(async (path) => {
      const { size, mtimeMs: time } = await stat(join(root, path));
      return { path, size, time };
    }),
  );
  for (const { name, contents } of [...files, { name: 'sources.json', contents: JSON.stringify(noted) }]) {
    const unfinished = join(folder, `${process.pid}-${name}`);
    try {
      await writeFile(unfinished, contents);
      await rename(unfinished, join(folder, name));
    } finally {
      await rm(unfinished, { force: true });
    }
  }
}
