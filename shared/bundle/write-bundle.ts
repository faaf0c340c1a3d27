import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Output of a bundler: its files, and the source files that they come from, as paths within the project. */
export interface Bundle {
  files: readonly { name: string; contents: Uint8Array | string }[];
  sources: readonly string[];
}

/**
 * Write a bundle with the sizes and times of its sources. `isFreshBundle` compares these to detect changed
 * sources. Each file appears complete or not at all, and the list of sources comes last.
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
