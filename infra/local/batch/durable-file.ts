import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes or replaces a file of mode 0600: after the promise resolved the new content is on the disk, before that a
 * reader sees the old content or none.
 */
export async function writeDurably(path: string, content: string): Promise<void> {
  const unfinished = path + unfinishedSuffix;
  try {
    const file = await open(unfinished, 'w', 0o600);
    try {
      await file.writeFile(content);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** End of the name of a file that is being written; one that remains is from a process that died meanwhile. */
export const unfinishedSuffix = '.unfinished';
