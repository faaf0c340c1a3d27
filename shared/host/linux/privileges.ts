import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { CommandUser, Launch, LaunchOrder } from '../host.ts';
import { canSandbox, sandboxed } from './sandbox.ts';

/**
 * Build the launch of a program as another user. The program cannot regain rights: it has no supplementary groups
 * and no capabilities, and no_new_privs disables set-uid programs. Without util-linux only user and group change.
 * Without a sandbox the spawned process becomes the program and keeps its pid.
 */
export async function launchAs(order: LaunchOrder): Promise<Launch> {
  const { user, program, args, env, cwd, sandbox, marker } = order;
  const setpriv = await findSetpriv();
  const handed = handedVariables(env);
  const marked = marker === undefined ? {} : { [marker.name]: marker.value };
  const outer = { env: { ...handed.outer, ...marked } };
  if (sandbox !== undefined && canSandbox() && (user === undefined || setpriv !== null)) {
    const drop = user === undefined || setpriv === null ? [] : dropRights(setpriv, user);
    const leftovers = marker === undefined ? 'end' : 'stay';
    const line = await sandboxed(sandbox, user, leftovers, cwd, [
      ...drop,
      ...withVariables(handed, program, args),
    ]);
    return { ...line, options: outer, isWaiter: true };
  }
  if (user === undefined) return { file: program, args, options: { env: { ...env } }, isWaiter: false };
  if (setpriv === null) {
    const options = { env: { ...env }, uid: user.uid, gid: user.gid };
    return { file: program, args, options, isWaiter: false };
  }
  const [file, ...rest] = [...dropRights(setpriv, user), ...withVariables(handed, program, args)];
  return { file, args: rest, options: outer, isWaiter: false };
}

/** The path at which setpriv was found. */
let found: string | undefined;

const envProgram = '/usr/bin/env';

/** Find setpriv of util-linux. BusyBox's setpriv cannot change the user. */
async function findSetpriv(): Promise<string | null> {
  if (process.getuid?.() !== 0) return null;
  if (found !== undefined) return found;
  for (const path of ['/usr/bin/setpriv', '/bin/setpriv']) {
    try {
      await access(envProgram, constants.X_OK);
      const { stdout } = await promisify(execFile)(path, ['--version'], { env: {}, timeout: 5_000 });
      if (stdout.includes('util-linux')) {
        found = path;
        return path;
      }
    } catch {
      // There is none at this path.
    }
  }
  return null;
}

/** The variables of a command during its preparation. */
interface HandedVariables {
  /** The environment of the programs that prepare the command. It has the values under meaningless names. */
  outer: Readonly<Record<string, string>>;
  /** The argument of `env` that restores the names. */
  split: string;
}

/**
 * Rename the variables until the rights are dropped. The programs that prepare a command may run as root, so
 * variables like LD_PRELOAD must reach only the final program. No argument contains a value, because every user of
 * the machine can read command lines.
 * @throws RangeError for a name with other characters than letters, digits and underscores
 */
function handedVariables(env: Readonly<Record<string, string>>): HandedVariables {
  const variables = Object.entries(env).map(([name, value], index) => {
    if (!/^\w+$/.test(name)) throw new RangeError(`${name} cannot be the name of a variable`);
    return { name, value, handed: `VARIABLE_${index}` };
  });
  return {
    outer: Object.fromEntries(variables.map(({ handed, value }) => [handed, value])),
    // GNU env replaces ${…} in its own memory.
    split: `-S-i -- ${variables.map(({ name, handed }) => `${name}=\${${handed}}`).join(' ')}`,
  };
}

function dropRights(setpriv: string, { uid, gid }: CommandUser): [string, ...string[]] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'];
  return [setpriv, ...ids, '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--'];
}

function withVariables({ split }: HandedVariables, program: string, args: readonly string[]): string[] {
  // `env` would read a path with = as a variable.
  const command = program.includes('=') ? ['/bin/sh', '-c', 'exec "$@"', 'sh', program] : [program];
  return [envProgram, split, ...command, ...args];
}
