import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Create or replace a file with mode 0600. When the promise resolves, the new content is on the disk. Before that,
 * a reader sees the old content or none.
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

/** Suffix of a file that is being written. If such a file remains, its process died during the write. */
export const unfinishedSuffix = '.unfinished';
