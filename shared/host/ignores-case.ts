import { mkdtemp, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from './has-code.ts';

/**
 * Whether the file system of a folder does not tell upper from lower case, as macOS's usually does not. Makes an empty
 * folder there for a moment.
 * @param folder may not exist yet; its nearest existing parent counts
 */
export async function ignoresCase(folder: string): Promise<boolean> {
  const above = dirname(folder);
  let probe: string;
  try {
    probe = await mkdtemp(join(folder, 'mps-case-'));
  } catch (error) {
    // What cannot be written says so when it is written.
    return hasCode(error, 'ENOENT') && above !== folder ? await ignoresCase(above) : false;
  }
  try {
    return await stat(join(folder, basename(probe).replace('mps-case', 'MPS-CASE'))).then(
      () => true,
      () => false,
    );
  } finally {
    await rm(probe, { recursive: true });
  }
}

/** Return the first two paths that a file system without cases takes for one; undefined if there are none. */
export function sameButForCase(paths: readonly string[]): [string, string] | undefined {
  const byKey = new Map<string, string>();
  for (const path of paths) {
    const key = path.normalize('NFC').toLowerCase();
    const other = byKey.get(key);
    if (other !== undefined && other !== path) return [other, path];
    byKey.set(key, path);
  }
  return undefined;
}
