import { execFile, type SpawnOptions } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { CommandUser } from './executable.ts';

/** What to hand to `spawn`. */
export interface Launch {
  file: string;
  args: readonly string[];
  options: Pick<SpawnOptions, 'env' | 'uid' | 'gid'>;
}

/**
 * How to start a program as another user for good: no supplementary groups, no capabilities to regain and
 * no_new_privs, so that set-uid programs give nothing (Linux with util-linux; elsewhere user and group alone).
 * The pid stays that of the program. Without `user` it starts with the rights of this process.
 */
export async function launchAs(
  user: CommandUser | undefined,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Launch> {
  if (user === undefined) return { file: program, args, options: { env: { ...env } } };
  const setpriv = await findSetpriv();
  // env would take a program with = in its path for a variable.
  if (setpriv === null || program.includes('=')) {
    return { file: program, args, options: { env: { ...env }, uid: user.uid, gid: user.gid } };
  }
  const drop = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--no-new-privs',
    '--inh-caps=-all',
    '--ambient-caps=-all',
    '--bounding-set=-all',
  ];
  // setpriv starts as root: variables such as LD_PRELOAD must not reach it, only what runs after the drop.
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return {
    file: setpriv,
    args: [...drop, '--', ENV, '-i', '--', ...variables, program, ...args],
    options: { env: {} },
  };
}

const ENV = '/usr/bin/env';

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
