#!/usr/bin/env node
// Runs the command `mps` of this checkout from its bundle, which is built first where a source of it has changed.
// Plain JavaScript for any Node from version 20 on; only the pinned Node builds.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, '.build/cli');
const bundle = join(folder, 'mps.mjs');

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

function build() {
  const pinned = join(root, 'node_modules/.bin/node');
  const node = existsSync(pinned) ? pinned : process.execPath;
  const { status } = spawnSync(node, [join(root, 'cli/build/main.ts'), root, folder], {
    stdio: ['ignore', 2, 2],
  });
  if (status === 0) return;
  process.stderr.write(`mps could not be built. Run "node infra/install.mjs" in ${root}, then try again.\n`);
  process.exit(1);
}

if (!existsSync(bundle) || !isFresh()) build();
// In its checkout the command can start the service, and sign in to it.
process.env.MPS_CHECKOUT ??= root;
await import(pathToFileURL(bundle).href);
