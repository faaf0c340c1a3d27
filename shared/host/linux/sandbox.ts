import { spawnSync } from 'node:child_process';
import { access, chmod, constants, mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CommandLine, CommandUser, KeptFolder, Sandbox } from '../host.ts';
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

let canLeave: boolean | undefined;

/** Whether a sandbox can have a network namespace of its own, too. */
function canLeaveNetwork(): boolean {
  const flags = [...(isRoot() ? [] : ['-r']), '-n', '--', '/bin/true'];
  canLeave ??= spawnSync(unshare, flags, { stdio: 'ignore', env: {}, timeout: 10_000 }).status === 0;
  return canLeave;
}

function commandLine(
  leftovers: Leftovers,
  steps: readonly string[],
  cwd: string,
  command: readonly string[],
  network?: 'none',
): CommandLine {
  const apart = network === 'none' && canLeaveNetwork() ? ['-n'] : [];
  const flags = [...(isRoot() ? [] : ['-r']), '-m', '-p', '-i', ...apart];
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
 * @param user the user that the command becomes; that of this process by default
 * @param cwd the working folder, which must be visible in the sandbox
 * @throws RangeError for more kept folders than the sandbox supports
 */
export async function sandboxed(
  { scratch, home, hidden, absent = [], kept, sharedMemoryBytes, network }: Sandbox,
  user: CommandUser | undefined,
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
  ].sort((a, b) => depth(a.path) - depth(b.path));
  return commandLine(
    leftovers,
    [
      ...folders.flatMap(({ path }) => ['open', path]),
      ...['shared-memory', sharedMemoryBytes === undefined ? '50%' : String(sharedMemoryBytes)],
      ...(home === undefined ? [] : await namedAccount(scratch, home, user)),
      ...['temporary', await freshTemporary(scratch)],
      ...steps.flatMap(({ step }) => step),
    ],
    cwd,
    command,
    network,
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

/**
 * Return the step that gives the user and the group of a command a name, unless the system has one for the user:
 * programs look it up (`pwd.getpwuid`, ssh, the home folder of Java).
 */
async function namedAccount(scratch: string, home: string, user: CommandUser | undefined): Promise<string[]> {
  const uid = user?.uid ?? process.getuid?.() ?? 0;
  const gid = user?.gid ?? process.getgid?.() ?? 0;
  const [users, groups] = await Promise.all(
    ['/etc/passwd', '/etc/group'].map((path) => readFile(path, 'utf8').catch(() => undefined)),
  );
  if (users === undefined || groups === undefined || hasId(users, uid)) return [];
  const folder = await mkdtemp(join(scratch, 'account-'));
  const files = {
    passwd: withEntry(users, `job:x:${uid}:${gid}::${home}:/bin/sh`),
    group: hasId(groups, gid) ? groups : withEntry(groups, `job:x:${gid}:`),
  };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), 0o644);
  }
  return ['account', folder];
}

/** Whether a line of `/etc/passwd` or `/etc/group`, whose third field is the id, has this id. */
const hasId = (text: string, id: number): boolean =>
  text.split('\n').some((line) => line.split(':')[2] === String(id));

/** Put an entry first, so that it wins over another one of its name. */
const withEntry = (text: string, entry: string): string => `${entry}\n${text}`;
