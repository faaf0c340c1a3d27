import { closeSync, constants, fchmodSync, fchownSync, lstatSync, openSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes a folder whatever it has become: read-only folders are opened up first, and as root everything is taken from
 * its owner top-down, so that nobody can exchange a folder for a link while the removal walks through it.
 * A folder that is not there is no error.
 */
export async function removeTree(folder: string): Promise<void> {
  takeOver(folder);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

function takeOver(path: string): void {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts?.isDirectory()) return;
  // A folder that denies even its owner must become readable before it can be opened; as root that never happens.
  const root = process.getuid?.() === 0;
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  try {
    if (root) fchownSync(file, 0, 0);
    fchmodSync(file, 0o700);
  } finally {
    closeSync(file);
  }
  for (const name of readdirSync(path, { withFileTypes: true })) {
    if (name.isDirectory()) takeOver(join(path, name.name));
  }
}
