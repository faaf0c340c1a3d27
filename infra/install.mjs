// Makes sure that the dependencies are there, so that every npm script works on a machine with nothing installed.
// Plain JavaScript without dependencies: it runs before any of them, and on any Node from version 20 on. The scripts
// go on with the pinned Node that comes with the dependencies, because npm puts node_modules/.bin first in PATH.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lockFile = `${root}package-lock.json`;
const stampFile = `${root}node_modules/.installed`;
const npmsOwnStamp = `${root}node_modules/.package-lock.json`;
const pinnedNode = `${root}node_modules/.bin/node`;
const commandLink = `${root}node_modules/.bin/mps`;

/** node:crypto has argon2 from this version on. */
const minVersion = [24, 7];

function isInstalled(wanted) {
  // npm writes its own file last of all; without it an installation was cut short.
  if (!existsSync(npmsOwnStamp)) return false;
  // A lock file that was only touched, by a change of branches say, installs nothing anew.
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return true;
  return statSync(npmsOwnStamp).mtimeMs >= statSync(lockFile).mtimeMs;
}

function npm(args) {
  const { npm_execpath: path } = process.env;
  const [program, ...before] = path?.endsWith('.js') ? [process.execPath, path] : ['npm'];
  const all = [...before, ...args, '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  return spawnSync(program, all, { cwd: root, stdio: 'inherit' }).status === 0;
}

function install() {
  process.stderr.write('Installing the dependencies, once: about 1.1 GB, a minute or more…\n');
  // "npm ci" refuses a lock file that was made where packages for other platforms were out of reach.
  if (npm(['ci', '--loglevel=error']) || npm(['install', '--no-save'])) return;
  process.stderr.write('The dependencies could not be installed; npm says why above.\n');
  process.exit(1);
}

const wanted = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
if (!isInstalled(wanted)) install();
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== wanted) writeFileSync(stampFile, wanted);

// npm links the commands of dependencies, not a package's own: npm scripts find this one here.
if (!existsSync(commandLink)) {
  rmSync(commandLink, { force: true });
  symlinkSync('../../cli/mps.mjs', commandLink);
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isRecent = major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1]);
if (!existsSync(pinnedNode) && !isRecent) {
  process.stderr.write(
    `There is no pinned Node for ${process.platform}-${process.arch}: install Node ${minVersion.join('.')} or newer (this is ${process.versions.node}), then try again.\n`,
  );
  process.exit(1);
}
