import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Remove a folder in any state that a build left. First grants access to folders that deny reading or writing. As
 * root, also takes ownership top-down, so no process can replace a folder by a link during the walk. Folders that lie
 * deeper than a path may be long are moved to the top. A missing folder is no error.
 */
export async function removeTree(folder: string): Promise<void> {
  takeOver(folder);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Half of the longest path of macOS, so that any name fits behind it. */
const longestPath = 512;

function takeOver(top: string): void {
  if (lstatSync(top, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const longest = top.length + longestPath;
  takeFolder(top);
  const found = [top];
  for (let path = found.pop(); path !== undefined; path = found.pop())
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const own = join(path, entry.name);
      takeFolder(own);
      const at = own.length > longest ? join(top, randomUUID()) : own;
      if (at !== own) renameSync(own, at);
      found.push(at);
    }
}

function takeFolder(path: string): void {
  if (process.getuid?.() === 0) takeFromOwner(path);
  // A folder may deny access even to its owner, so it cannot be opened first.
  else chmodSync(path, 0o700);
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
