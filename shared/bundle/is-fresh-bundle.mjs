// Plain JavaScript, so that a command starts without a compiler, on any Node from version 20 on.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether the bundle in a folder is of the sources as they are. It compares their sizes and times with those that
 * `writeBundle` noted, in a few milliseconds.
 *
 * @param {string} root folder of the project
 * @param {string} folder that of the bundle
 */
export function isFreshBundle(root, folder) {
  try {
    const sources = JSON.parse(readFileSync(join(folder, 'sources.json'), 'utf8'));
    return sources.every(({ path, size, time }) => {
      const found = statSync(join(root, path));
      return found.size === size && found.mtimeMs === time;
    });
  } catch {
    return false;
  }
}
