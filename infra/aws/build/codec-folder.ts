import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the picture codec of the locked version is kept once it was fetched. */
export async function codecFolder(root: string): Promise<string> {
  const lock = await readFile(join(root, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  return join(root, '.build/picture-codec', digest);
}
