import { execFileSync } from 'node:child_process';
import type { CommandLine } from '../host.ts';

/**
 * Return a command that the kernel kills when this process dies for any reason. Its pid is that of the program.
 * Without setpriv of util-linux, return the program unchanged.
 */
export function boundToParent(program: string, args: readonly string[]): CommandLine {
  if (setpriv === undefined) setpriv = findSetpriv();
  if (setpriv === null) return { file: program, args: [...args] };
  return { file: setpriv, args: ['--pdeathsig', 'KILL', '--', program, ...args] };
}

let setpriv: string | null | undefined;

/** Try the option: util-linux supports it since 2018, BusyBox does not. */
function findSetpriv(): string | null {
  for (const path of ['/usr/bin/setpriv', '/bin/setpriv']) {
    try {
      execFileSync(path, ['--pdeathsig', 'KILL', '--', '/bin/true'], { stdio: 'ignore', env: {} });
      return path;
    } catch {
      // The program is missing or does not support the option.
    }
  }
  return null;
}
