import { spawnSync } from 'node:child_process';
import { access, chmod, constants, mkdtemp, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { mostKeptFolders, sandboxScript } from './sandbox-script.ts';

/** A folder that a command sees at its own path, whatever around it is hidden. */
export interface KeptFolder {
  path: string;
  readOnly: boolean;
}

/**
 * What a command sees of this machine: its own processes alone, `/tmp`, `/dev/shm` and System V memory of its own, and
 * the file system without what is hidden. The network stays.
 */
export interface Sandbox {
  /** A folder of the supervisor's; the command's `/tmp` and `/var/tmp` is made in it. */
  scratch: string;
  /** Files and folders that the command does not see. */
  hidden: readonly string[];
  /** At most six. Of folders within each other the deeper one decides. */
  kept: readonly KeptFolder[];
  /** Size of `/dev/shm`, in bytes; half of the machine's memory unless given. */
  sharedMemoryBytes?: number | undefined;
}

/** Whether what a command leaves running ends with it, or stays for the caller to end. */
export type Leftovers = 'end' | 'stay';

/** A program and its arguments. */
export interface CommandLine {
  file: string;
  args: string[];
}

const unshare = '/usr/bin/unshare';

/** By which a program of the same user could have others started outside. */
const doorsOut = ['/run/user', '/run/docker.sock', '/run/containerd', '/run/podman'];

const isRoot = (): boolean => process.getuid?.() === 0;

function commandLine(
  leftovers: Leftovers,
  steps: readonly string[],
  cwd: string,
  command: readonly string[],
): CommandLine {
  const flags = [...(isRoot() ? [] : ['-r']), '-m', '-p', '-i'];
  const own = [`--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`];
  // The own ids again, instead of those of a root that is none outside; and no way back to its rights.
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

/** Whether a sandbox comes about, and ends as its command did. */
function tryOut(): boolean {
  if (process.platform !== 'linux') return false;
  const command = ['/bin/sh', '-c', 'kill -s KILL $$'];
  const { file, args } = commandLine('end', ['shared-memory', '1m'], '/', command);
  const { signal } = spawnSync(file, args, { stdio: 'ignore', env: {}, timeout: 10_000 });
  return signal === 'SIGKILL';
}

let available: boolean | undefined;

/**
 * Whether this system lets this process make sandboxes: with util-linux and coreutils, as root or in user namespaces.
 * Containers, other platforms and some distributions do not.
 */
export function canSandbox(): boolean {
  available ??= tryOut();
  return available;
}

const depth = (path: string): number => path.split('/').length;

/** A folder that everybody may write to and nobody has written to yet. */
async function freshTemporary(scratch: string): Promise<string> {
  const folder = await mkdtemp(join(scratch, 'tmp-'));
  await chmod(folder, 0o1777);
  return folder;
}

async function openablePath(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK | constants.X_OK);
    return await realpath(path);
  } catch {
    return undefined;
  }
}

/** Those that are there and can be opened, by their real paths. */
async function openable(kept: readonly KeptFolder[]): Promise<KeptFolder[]> {
  const found = await Promise.all(
    kept.map(async (folder) => ({ ...folder, path: await openablePath(folder.path) })),
  );
  return found.flatMap(({ path, readOnly }) =>
    path === undefined || path === '/' ? [] : [{ path, readOnly }],
  );
}

/** How to run a command in a sandbox. Its working folder must be one that it sees there. */
export async function sandboxed(
  { scratch, hidden, kept, sharedMemoryBytes }: Sandbox,
  leftovers: Leftovers,
  cwd: string,
  command: readonly string[],
): Promise<CommandLine> {
  const folders = await openable(kept);
  if (folders.length > mostKeptFolders)
    throw new RangeError(`a sandbox keeps ${mostKeptFolders} folders at most`);
  const steps = [
    ...[...(isRoot() ? [] : doorsOut), ...hidden].map((path) => ({ path, step: ['hide', path] })),
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
