// Runs the command from its bundle, which is built first where a source of it has changed: from the sources alone it
// takes as long to start as to quantize a model of 90 MB. Plain JavaScript, so that starting needs no compiler.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(root, '.build/optimize');

/** Whether the bundle is of the sources as they are: by their sizes and times, in a few milliseconds. */
function isFresh() {
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

if (!existsSync(join(folder, 'command.js')) || !isFresh()) {
  const { writeBundle } = await import('./write-bundle.ts');
  await writeBundle(root, folder);
}
enableCompileCache(join(folder, 'compiled'));
const { runCommand } = await import(pathToFileURL(join(folder, 'command.js')).href);
await runCommand(fileURLToPath(new URL('stage.mjs', import.meta.url)));
