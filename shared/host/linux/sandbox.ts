import { spawnSync } from 'node:child_process';
import { access, chmod, constants, mkdtemp, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CommandLine, KeptFolder, Sandbox } from '../host.ts';
import { maxKeptFolders, sandboxScript } from './sandbox-script.ts';

/** Whether a command's leftover processes end with it, or stay until the caller ends them. */
type Leftovers = 'end' | 'stay';

let available: boolean | undefined;

/**
 * Whether this process can create sandboxes. That requires util-linux and coreutils, and root or user namespaces.
 * Containers and some distributions do not allow it.
 */
export function canSandbox(): boolean {
  available ??= trySandbox();
  return available;
}

/** Create a trial sandbox. Check that it works and reports the end of its command. */
function trySandbox(): boolean {
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
  { scratch, hidden, absent = [], kept, sharedMemoryBytes }: Sandbox,
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
    ...[...Map.groupBy(absent, dirname)].map(([path, entries]) => ({
      path,
      step: ['without', path, entries.map((entry) => basename(entry)).join('/')],
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
