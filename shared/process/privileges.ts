import { execFile, type SpawnOptions } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { CommandUser } from './executable.ts';
import { canSandbox, type Sandbox, sandboxed } from './sandbox.ts';

/** What to hand to `spawn`. */
export interface Launch {
  file: string;
  args: readonly string[];
  options: Pick<SpawnOptions, 'env' | 'uid' | 'gid'>;
  /** Whether the process that is spawned only waits for the command, which is a child of it. */
  isWaiter: boolean;
}

export interface LaunchOrder {
  /** Whom to run as, for which this process must be root; as this process unless given. */
  user: CommandUser | undefined;
  program: string;
  args: readonly string[];
  /** The command's whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** What the command sees of this machine; all unless given. Where the system makes no sandboxes it sees all, too. */
  sandbox?: Sandbox | undefined;
  /**
   * A variable of the programs that prepare the command as well, by which they are found. With it, what the command
   * leaves running in a sandbox stays for the caller to end.
   */
  marker?: { name: string; value: string } | undefined;
}

/**
 * How to start a program as another user for good: no supplementary groups, no capabilities to regain and
 * no_new_privs, so that set-uid programs give nothing (Linux with util-linux; elsewhere user and group alone).
 * Without a sandbox the pid stays that of the program.
 */
export async function launchAs(order: LaunchOrder): Promise<Launch> {
  const { user, program, args, env, cwd, sandbox, marker } = order;
  const setpriv = await findSetpriv();
  const outer = { env: marker === undefined ? {} : { [marker.name]: marker.value } };
  if (sandbox !== undefined && canSandbox() && (user === undefined || setpriv !== null)) {
    const drop = user === undefined || setpriv === null ? [] : dropRights(setpriv, user);
    const leftovers = marker === undefined ? 'end' : 'stay';
    const line = await sandboxed(sandbox, leftovers, cwd, [...drop, ...withVariables(env, program, args)]);
    return { ...line, options: outer, isWaiter: true };
  }
  if (user === undefined) return { file: program, args, options: { env: { ...env } }, isWaiter: false };
  if (setpriv === null) {
    const options = { env: { ...env }, uid: user.uid, gid: user.gid };
    return { file: program, args, options, isWaiter: false };
  }
  const [file, ...rest] = [...dropRights(setpriv, user), ...withVariables(env, program, args)];
  return { file, args: rest, options: outer, isWaiter: false };
}

function dropRights(setpriv: string, { uid, gid }: CommandUser): [string, ...string[]] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'];
  return [setpriv, ...ids, '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--'];
}

const ENV = '/usr/bin/env';

/**
 * The programs that prepare a command may run as root: variables such as LD_PRELOAD must not reach them, only what runs
 * after the drop.
 */
function withVariables(
  env: Readonly<Record<string, string>>,
  program: string,
  args: readonly string[],
): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // env would take a program with = in its path for a variable.
  const command = program.includes('=') ? ['/bin/sh', '-c', 'exec "$@"', 'sh', program] : [program];
  return [ENV, '-i', '--', ...variables, ...command, ...args];
}

/** BusyBox has a setpriv, too, which cannot change the user. */
async function findSetpriv(): Promise<string | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  for (const path of ['/usr/bin/setpriv', '/bin/setpriv']) {
    try {
      await access(ENV, constants.X_OK);
      const { stdout } = await promisify(execFile)(path, ['--version'], { env: {}, timeout: 5_000 });
      if (stdout.includes('util-linux')) return path;
    } catch {
      // not there
    }
  }
  return null;
}
