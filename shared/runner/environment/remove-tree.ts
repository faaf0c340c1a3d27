import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Remove a folder in any state that a build left: folders that deny writing or reading are opened up first, and as
 * root everything is taken from its owner top-down, so that no process can exchange a folder for a link during the
 * walk. A missing folder is no error.
 */
export async function removeTree(folder: string): Promise<void> {
  takeOver(folder);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

function takeOver(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  if (process.getuid?.() === 0) takeFromOwner(path);
  // A folder may deny even its owner, and then could not be opened first.
  else chmodSync(path, 0o700);
  for (const name of readdirSync(path, { withFileTypes: true })) {
    if (name.isDirectory()) takeOver(join(path, name.name));
  }
}

function takeFromOwner(path: string): void {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  try {
    fchownSync(file, 0, 0);
    fchmodSync(file, 0o700);
  } finally {
    closeSync(file);
  }
}
