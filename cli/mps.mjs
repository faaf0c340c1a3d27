#!/usr/bin/env node
// Run `mps` of this checkout from its bundle. Build the bundle first if a source has changed. This file is plain
// JavaScript for Node 20 or later; only the pinned Node builds.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isFreshBundle } from '../shared/bundle/is-fresh-bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, '.build/cli');
const bundle = join(folder, 'mps.mjs');

function build() {
  const pinned = join(root, 'node_modules/.bin/node');
  const node = existsSync(pinned) ? pinned : process.execPath;
  const { status } = spawnSync(node, [join(root, 'cli/build.ts'), root, folder], {
    stdio: ['ignore', 2, 2],
  });
  if (status === 0) return;
  process.stderr.write(`mps could not be built. Run "node infra/install.mjs" in ${root}, then try again.\n`);
  process.exit(1);
}

if (!existsSync(bundle) || !isFreshBundle(root, folder)) build();
// With MPS_CHECKOUT, the command can start the checkout's service and sign in to it.
process.env.MPS_CHECKOUT ??= root;
await import(pathToFileURL(bundle).href);
