// Makes sure that the dependencies are there, so that every npm script works on a machine with nothing installed.
// With --to-run it installs what the service needs to run; without, also what tests, checks and deployments need.
// Plain JavaScript without dependencies: it runs before any of them, and on any Node from version 20 on. The scripts
// go on with the pinned Node that comes with the dependencies, because npm puts node_modules/.bin first in PATH.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lockFile = `${root}package-lock.json`;
/** npm's own list of what it installed, which it writes last. */
const installedFile = `${root}node_modules/.package-lock.json`;
const pinnedNode = `${root}node_modules/.bin/node`;
const commandLink = `${root}node_modules/.bin/mps`;

/** node:crypto has argon2 from this version on. */
const minVersion = [24, 7];

/** It exists while npm installs, with the id of the process. Not in node_modules, which npm empties. */
const unfinishedFile = `${root}.build/installing`;

/** The version of an installed package; undefined if it is not there. npm's own list also names what it only planned. */
function installedVersion(path) {
  try {
    return JSON.parse(readFileSync(`${root}${path}/package.json`, 'utf8')).version;
  } catch {
    return undefined;
  }
}

/** Whether all packages of the lock file are installed in its versions, or those that the service runs on. */
function isInstalled(isToRun) {
  // npm takes a package for installed whose files are not all there: an installation that was cut short begins again.
  if (!existsSync(installedFile) || existsSync(unfinishedFile)) return false;
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8'));
  return Object.entries(packages).every(([path, { version, dev, optional, devOptional }]) => {
    if (path === '') return true;
    const found = installedVersion(path);
    // Optional packages may be those of another platform.
    return found === version || (isToRun && dev) || (found === undefined && (optional || devOptional));
  });
}

/** Whether npm installed what tests the service, too: a checkout of a developer keeps that when the lock file changes. */
function hasDevelopment() {
  if (!existsSync(installedFile)) return false;
  return Object.values(JSON.parse(readFileSync(installedFile, 'utf8')).packages).some(({ dev }) => dev);
}

/** Wait while another command installs, or return if it was cut short. */
function waitForOther() {
  for (let said = false; existsSync(unfinishedFile); said = true) {
    try {
      const other = Number(readFileSync(unfinishedFile, 'utf8'));
      // One that was cut short in a container may have had the id that this process has now.
      if (!(other > 0) || other === process.pid) return;
      process.kill(other, 0);
    } catch (error) {
      if (error.code !== 'EPERM') return;
    }
    if (!said) process.stderr.write(`Another command installs the dependencies (${unfinishedFile})…\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  }
}

function npm(args, scope) {
  const { npm_execpath: path } = process.env;
  const [program, ...before] = path?.endsWith('.js') ? [process.execPath, path] : ['npm'];
  const all = [...before, ...args, scope, '--include=optional', '--no-audit', '--no-fund'];
  return spawnSync(program, all, { cwd: root, stdio: 'inherit' }).status === 0;
}

function install(ways, scope, what) {
  process.stderr.write(`Installing ${what}, once: a minute or more…\n`);
  mkdirSync(`${root}.build`, { recursive: true });
  writeFileSync(unfinishedFile, String(process.pid));
  if (ways.some((args) => npm(args, scope))) {
    leaveOutOtherPlatforms();
    rmSync(unfinishedFile);
    return;
  }
  process.stderr.write('The dependencies could not be installed; npm says why above.\n');
  // What was to be added is not there, and npm has put back what was: the service runs on it.
  if (ways === added) rmSync(unfinishedFile);
  process.exit(1);
}

/** ONNX Runtime comes with libraries for five platforms, 240 MB. A deployment needs those of Linux on x86-64. */
function leaveOutOtherPlatforms() {
  const folder = `${root}node_modules/onnxruntime-node/bin/napi-v6`;
  const kept = [`${process.platform}/${process.arch}`, 'linux/x64'];
  for (const system of readdirSync(folder))
    for (const processor of readdirSync(`${folder}/${system}`))
      if (!kept.includes(`${system}/${processor}`))
        rmSync(`${folder}/${system}/${processor}`, { recursive: true });
}

// "npm ci" refuses a lock file that was made where packages for other platforms were out of reach.
const afresh = [
  ['ci', '--loglevel=error'],
  ['install', '--no-save'],
];
const added = [['install', '--no-save', '--loglevel=error']];
const whole = 'what runs, tests and deploys the service, 0.9 GB';

waitForOther();
const hasAll = isInstalled(false);
if (process.argv.includes('--to-run')) {
  if (!hasAll && !isInstalled(true)) {
    if (hasDevelopment()) install(afresh, '--include=dev', whole);
    else install(afresh, '--omit=dev', 'what runs the service, 0.4 GB');
  }
} else if (!hasAll) {
  // What tests and deploys the service comes to what runs it, which a running service uses.
  if (isInstalled(true)) install(added, '--include=dev', 'what tests and deploys the service, 0.5 GB');
  else install(afresh, '--include=dev', whole);
}

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
