import { constants } from 'node:fs';
import { access, open, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandUser } from '../host/host.ts';

/** The program's path, or the reason why it cannot start. The reason is for the author of the command. */
export type Executable = { path: string } | { fault: string };

/** Where a command runs. */
interface Surroundings {
  cwd: string;
  env: Readonly<Record<string, string>>;
  user?: CommandUser | undefined;
}

const missing = 'does not exist';

/** Fallback names of programs. Debian and macOS have no `python`, and some installations of Python no `python3`. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['python', 'python3'],
  ['python3', 'python'],
]);

/**
 * Find a program as `exec` does for this user. A name with a slash is a path relative to `cwd`; any other name is
 * searched in PATH. Without a `python` that this user may execute (that of root's pyenv is not), finds `python3`, and
 * the other way round. Check this before the start, because a failed `exec` looks like an exit code of the program.
 */
export async function findExecutable(name: string, place: Surroundings): Promise<Executable> {
  if (name.includes('/')) return await examine(name, resolve(place.cwd, name), place);
  const found = await findInPath(name, place);
  if (found !== undefined && 'path' in found) return found;
  const other = otherNames.get(name);
  const standIn = other === undefined ? undefined : await findInPath(other, place);
  if (standIn !== undefined && 'path' in standIn) return standIn;
  if (found !== undefined) return found;
  const isHere = await stat(resolve(place.cwd, name)).catch(() => null);
  const hint = isHere?.isFile() === true ? `; to run the file of that name, write ./${name}` : '';
  return { fault: `${name}: not found in PATH${hint}` };
}

/** Return the first program of a name in PATH, else the reason why one that is there cannot start. */
async function findInPath(name: string, place: Surroundings): Promise<Executable | undefined> {
  let executable: Executable | undefined;
  for (const folder of (place.env['PATH'] ?? '').split(':')) {
    const candidate = await examine(name, resolve(place.cwd, folder, name), place);
    if ('path' in candidate) return candidate;
    if (!candidate.fault.endsWith(missing)) executable ??= candidate;
  }
  return executable;
}

async function examine(name: string, path: string, place: Surroundings): Promise<Executable> {
  const found = await stat(path).catch(() => null);
  if (found === null) return { fault: `${name}: ${missing}` };
  if (found.isDirectory()) return { fault: `${name}: is a folder` };
  if (!found.isFile()) return { fault: `${name}: is not a file` };
  if (!(await mayExecute(path, place.user))) return { fault: `${name}: is not executable` };
  const fault = await formatFault(path, place);
  return fault === null ? { path } : { fault: `${name}: ${fault}` };
}

/** Check the modes of the file and its folders, because `access` would answer for root and not for the user. */
async function mayExecute(path: string, user: CommandUser | undefined): Promise<boolean> {
  if (user === undefined || user.uid === process.getuid?.()) {
    return await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
  }
  for (const start of new Set([path, await realpath(path)])) {
    let part = start;
    while (true) {
      const { uid, gid, mode } = await stat(part);
      const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
      if (((mode >> shift) & 1) === 0) return false;
      const above = dirname(part);
      if (above === part) break;
      part = above;
    }
  }
  return true;
}

/** Return the reason why an executable file cannot start: its `#!` line is wrong or missing. Null if it can. */
async function formatFault(path: string, place: Surroundings): Promise<string | null> {
  const start = await readStart(path);
  if (start === null) return null; // The file is executable but not readable: a binary, or the start will fail.
  if (!start.startsWith('#!')) {
    // `exec` would pass the file to a shell, which would run Python source, for example, as shell commands.
    return start.includes('\0') ? null : 'is a text file without a #! line that names its interpreter';
  }
  const [line = ''] = start.slice(2).split('\n');
  if (line.endsWith('\r')) return 'has Windows line ends, so its #! line names no interpreter';
  const [interpreter = '', ...rest] = line.trim().split(/[ \t]+/);
  const found = await stat(resolve(place.cwd, interpreter)).catch(() => null);
  if (interpreter === '' || found === null) return `its interpreter ${interpreter} ${missing}`;
  if (!(await mayExecute(resolve(place.cwd, interpreter), place.user))) {
    return `its interpreter ${interpreter} is not executable`;
  }
  const program = rest.find((word) => !word.startsWith('-') && !word.includes('='));
  if (!interpreter.endsWith('/env') || program === undefined || program.includes('/')) return null;
  return (await isInPath(program, place)) ? null : `its interpreter ${program} is not found in PATH`;
}

async function readStart(path: string): Promise<string | null> {
  const file = await open(path).catch(() => null);
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(256), position: 0 });
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function isInPath(program: string, place: Surroundings): Promise<boolean> {
  for (const folder of (place.env['PATH'] ?? '').split(':')) {
    const path = resolve(place.cwd, folder, program);
    const found = await stat(path).catch(() => null);
    if (found?.isFile() === true && (await mayExecute(path, place.user))) return true;
  }
  return false;
}
