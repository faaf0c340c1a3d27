import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Canaries } from '../../faults/secrets/canaries.ts';

/** Which files below a folder hold a canary, and how many were read. */
export async function searchFiles(
  folder: string,
  canaries: Canaries,
): Promise<{ files: number; found: string[] }> {
  const found: string[] = [];
  let files = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files += 1;
    for (const what of canaries.within(await readFile(path))) found.push(`${what} in ${path}`);
  }
  return { files, found };
}
