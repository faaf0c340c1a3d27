// Start the service on this machine from its bundle. Build the bundle first if the sources have changed.
// This is plain JavaScript, because Node takes 18 MB to run TypeScript and this process stays.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// On the command line, this flag would keep the young generation at 1 MB, even after a busy service clears the
// flag.
setFlagsFromString('--optimize-for-size');

const root = fileURLToPath(new URL('../../..', import.meta.url));
const builds = join(root, '.build/local');
const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Hash all sources of a bundle. Bundles with the same digest are the same. */
function digestOfSources() {
  const digest = createHash('sha256');
  const add = (file) =>
    digest
      .update(`${file}\n`)
      .update(readFileSync(join(root, file)))
      .update('\n');
  add('package-lock.json');
  add('python/pyproject.toml');
  // `cli` and `python` are included because the service serves its command and its package.
  for (const folder of ['functions', 'shared', 'infra', 'cli', 'python/mps']) {
    const files = readdirSync(join(root, folder), { recursive: true });
    for (const file of files.sort()) if (/\.(?:tsx?|css|py)$/.test(file)) add(join(folder, file));
  }
  return digest.digest('hex').slice(0, 16);
}

function build(folder) {
  mkdirSync(builds, { recursive: true });
  const program = join(root, 'infra/local/start/bundle.ts');
  const { status } = spawnSync(process.execPath, [program, root, folder], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}

/** Remove bundles unused for a day. A running service keeps its own in use. */
function removeOldBuilds() {
  for (const name of readdirSync(builds)) {
    const folder = join(builds, name);
    const { mtimeMs, uid } = statSync(folder);
    if (Date.now() - mtimeMs > dayMilliseconds && uid === process.getuid?.())
      rmSync(folder, { recursive: true, force: true });
  }
}

const folder = join(builds, digestOfSources());
if (!existsSync(folder)) build(folder);
const use = () => {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {
    // Another user of this machine built the folder and keeps it.
  }
};
use();
setInterval(use, dayMilliseconds / 24).unref();
removeOldBuilds();
const { main } = await import(join(folder, 'infra/local/start/main.js'));
await main(process.argv.slice(2), { program: folder, checkout: root.replace(/\/$/, '') });
