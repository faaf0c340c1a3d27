// Runs the command from its bundle, which is built first where a source of it has changed: from the sources alone it
// takes as long to start as to quantize a model of 90 MB. Plain JavaScript, so that starting needs no compiler.
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isFreshBundle } from '../../bundle/is-fresh-bundle.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(root, '.build/optimize');

if (!existsSync(join(folder, 'command.js')) || !isFreshBundle(root, folder)) {
  const { bundleCommand } = await import('./bundle-command.ts');
  const { writeBundle } = await import('../../bundle/write-bundle.ts');
  await writeBundle(root, folder, await bundleCommand(root));
}
enableCompileCache(join(folder, 'compiled'));
const { runCommand } = await import(pathToFileURL(join(folder, 'command.js')).href);
await runCommand(fileURLToPath(new URL('stage.mjs', import.meta.url)));
