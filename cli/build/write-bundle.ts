import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleCommand } from '../../functions/service/command/bundle-command.ts';

/**
 * Bundles the command into `<folder>/mps.mjs`, and notes beside it which sources it was made of. Both appear whole.
 *
 * @param root folder of the project
 */
export async function writeBundle(root: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const unfinished = join(folder, `${process.pid}.mjs`);
  try {
    const { code, sources } = await bundleCommand(root);
    const noted = await Promise.all(
      sources.map(async (path) => {
        const { size, mtimeMs: time } = await stat(join(root, path));
        return { path, size, time };
      }),
    );
    await writeFile(unfinished, code);
    await writeFile(`${unfinished}.json`, JSON.stringify(noted));
    await rename(unfinished, join(folder, 'mps.mjs'));
    await rename(`${unfinished}.json`, join(folder, 'sources.json'));
  } finally {
    await rm(unfinished, { force: true });
    await rm(`${unfinished}.json`, { force: true });
  }
}
