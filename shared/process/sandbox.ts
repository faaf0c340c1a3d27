import { spawnSync } from 'node:child_process';
import { access, chmod, constants, mkdtemp, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { maxKeptFolders, sandboxScript } from './sandbox-script.ts';

/** A folder that stays visible at its own path, even if its parent folders are hidden. */
export interface KeptFolder {
  path: string;
  readOnly: boolean;
}

/**
 * A command's view of this machine: only its own processes, its own `/tmp`, `/dev/shm` and System V memory, and
 * the file system without the hidden paths. The network is not restricted.
 */
export interface Sandbox {
  /** A folder of the supervisor for the command's `/tmp`, which is also its `/var/tmp`. */
  scratch: string;
  /** Files and folders that the command does not see. */
  hidden: readonly string[];
  /** At most six. Among nested folders the deeper one takes precedence. */
  kept: readonly KeptFolder[];
  /** Size of `/dev/shm` in bytes; half of the machine's memory by default. */
  sharedMemoryBytes?: number | undefined;
}

/** Whether a command's leftover processes end with it, or stay until the caller ends them. */
export type Leftovers = 'end' | 'stay';

/** A program and its arguments. */
export interface CommandLine {
  file: string;
  args: string[];
}

let available: boolean | undefined;

/**
 * Whether this process can create sandboxes. That requires util-linux and coreutils, and root or user namespaces.
 * Containers, other platforms and some distributions do not allow it.
 */
export function canSandbox(): boolean {
  available ??= trySandbox();
  return available;
}

/** Create a trial sandbox. Check that it works and reports the end of its command. */
function trySandbox(): boolean {
  if (process.platform !== 'linux') return false;
  const command = ['/bin/sh', '-c', 'kill -s KILL $$'];
  const { file, args } = commandLine('end', ['shared-memory', '1m'], '/', command);
  const { signal } = spawnSync(file, args, { stdio: 'ignore', env: {}, timeout: 10_000 });
  return signal === 'SIGKILL';
}

const unshare = '/usr/bin/unshare';

function commandLine(
  leftovers: Leftovers,
  steps: readonly string[],
  cwd: string,
  command: readonly string[],
): CommandLine {
  const flags = [...(isRoot() ? [] : ['-r']), '-m', '-p', '-i'];
  const own = [`--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`];
  // `unshare -r` maps the user's ids to root. Map them back and drop the rights of that root.
  const back = isRoot() ? [] : [unshare, '-U', ...own, '--', 'setpriv', '--no-new-privs', '--'];
  return {
    file: unshare,
    args: [
      ...flags,
      '--',
      '/bin/sh',
      '-c',
      sandboxScript,
      'sandbox',
      leftovers,
      ...steps,
      '--',
      cwd,
      ...back,
      ...command,
    ],
  };
}

const isRoot = (): boolean => process.getuid?.() === 0;

/** Sockets through which a program of the same user could start others outside the sandbox. */
const outsideSockets = ['/run/user', '/run/docker.sock', '/run/containerd', '/run/podman'];

/**
 * Build the command line that runs a command in a sandbox.
 * @param cwd the working folder, which must be visible in the sandbox
 * @throws RangeError for more kept folders than the sandbox supports
 */
export async function sandboxed(
  { scratch, hidden, kept, sharedMemoryBytes }: Sandbox,
  leftovers: Leftovers,
  cwd: string,
  command: readonly string[],
): Promise<CommandLine> {
  const folders = await openable(kept);
  if (folders.length > maxKeptFolders)
    throw new RangeError(`a sandbox keeps ${maxKeptFolders} folders at most`);
  const steps = [
    ...[...(isRoot() ? [] : outsideSockets), ...hidden].map((path) => ({ path, step: ['hide', path] })),
    ...folders.map(({ path, readOnly }, index) => ({
      path,
      step: [readOnly ? 'show' : 'keep', path, String(4 + index)],
    })),
  ].sort((one, other) => depth(one.path) - depth(other.path));
  return commandLine(
    leftovers,
    [
      ...folders.flatMap(({ path }) => ['open', path]),
      ...['shared-memory', sharedMemoryBytes === undefined ? '50%' : String(sharedMemoryBytes)],
      ...['temporary', await freshTemporary(scratch)],
      ...steps.flatMap(({ step }) => step),
    ],
    cwd,
    command,
  );
}

/** Return the folders that exist and can be opened, with their real paths. */
async function openable(kept: readonly KeptFolder[]): Promise<KeptFolder[]> {
  const found = await Promise.all(
    kept.map(async (folder) => ({ ...folder, path: await openablePath(folder.path) })),
  );
  return found.flatMap(({ path, readOnly }) =>
    path === undefined || path === '/' ? [] : [{ path, readOnly }],
  );
}

async function openablePath(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK | constants.X_OK);
    return await realpath(path);
  } catch {
    return undefined;
  }
}

const depth = (path: string): number => path.split('/').length;

/** Create an empty folder that every user may write to. */
async function freshTemporary(scratch: string): Promise<string> {
  const folder = await mkdtemp(join(scratch, 'tmp-'));
  await chmod(folder, 0o1777);
  return folder;
}
