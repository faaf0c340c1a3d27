import { execFileSync } from 'node:child_process';

/**
 * How to spawn a program so that the kernel kills it when this process dies, however it dies. The pid stays that of
 * the program. Where the platform has no such way, the program is spawned as it is.
 */
export function boundToParent(program: string, args: readonly string[]): { file: string; args: string[] } {
  if (setpriv === undefined) setpriv = findSetpriv();
  if (setpriv === null) return { file: program, args: [...args] };
  return { file: setpriv, args: ['--pdeathsig', 'KILL', '--', program, ...args] };
}

let setpriv: string | null | undefined;

/** util-linux has had the option since 2018, BusyBox has not; so it is tried. */
function findSetpriv(): string | null {
  if (process.platform !== 'linux') return null;
  for (const path of ['/usr/bin/setpriv', '/bin/setpriv']) {
    try {
      execFileSync(path, ['--pdeathsig', 'KILL', '--', '/bin/true'], { stdio: 'ignore', env: {} });
      return path;
    } catch {
      // Not there, or another one.
    }
  }
  return null;
}
