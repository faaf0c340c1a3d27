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
 * Remove a folder in any state that a build left. First grants access to folders that deny reading or writing. As
 * root, also takes ownership top-down, so no process can replace a folder by a link during the walk. A missing
 * folder is no error.
 */
export async function removeTree(folder: string): Promise<void> {
  takeOver(folder);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

function takeOver(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  if (process.getuid?.() === 0) takeFromOwner(path);
  // A folder may deny access even to its owner, so it cannot be opened first.
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
