import { execFile, type SpawnOptions } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { CommandUser } from './executable.ts';
import { canSandbox, type Sandbox, sandboxed } from './sandbox.ts';

/** The arguments for `spawn`. */
export interface Launch {
  file: string;
  args: readonly string[];
  options: Pick<SpawnOptions, 'env' | 'uid' | 'gid'>;
  /** Whether the spawned process only waits for the command, which is its child. */
  isWaiter: boolean;
}

export interface LaunchOrder {
  /** User of the command, for which this process must be root; the user of this process unless given. */
  user: CommandUser | undefined;
  program: string;
  args: readonly string[];
  /** The command's whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** What the command sees of this machine; all of it unless given, or where the system allows no sandbox. */
  sandbox?: Sandbox | undefined;
  /**
   * A variable by which the processes are found, also of the programs that prepare the command. With it, the caller ends
   * the processes that the command leaves in a sandbox.
   */
  marker?: { name: string; value: string } | undefined;
}

/**
 * How to start a program as another user without a way back: no supplementary groups, no capabilities, and no_new_privs,
 * so that set-uid programs have no effect (Linux with util-linux; elsewhere only user and group are changed).
 * Without a sandbox the spawned process becomes the program, with the same pid.
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
    const line = await sandboxed(sandbox, leftovers, cwd, [...drop, ...withVariables(handed, program, args)]);
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

/** The path of util-linux's setpriv. That of BusyBox cannot change the user. */
async function findSetpriv(): Promise<string | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
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

/** The variables of a command on their way to it. */
interface HandedVariables {
  /** The environment of the programs that prepare the command: the values, under names that mean nothing to anybody. */
  outer: Readonly<Record<string, string>>;
  /** The argument of `env` that gives the values their names again. */
  split: string;
}

/**
 * The programs that prepare a command may run as root. Variables such as LD_PRELOAD must reach only the program that runs
 * after the rights are dropped. Their values stand in no argument: every user of the machine can read command lines.
 * @throws RangeError for a name that is not made of letters, digits and underscores
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
