import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes that a file or folder takes on the disk: sparse files count what is there. */
export async function diskUse(path: string): Promise<number> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined) return 0;
  let bytes = facts.blocks * 512;
  if (!facts.isDirectory()) return bytes;
  for (const name of await readdir(path).catch(() => [])) bytes += await diskUse(join(path, name));
  return bytes;
}
