import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ProcessInfo } from '../host.ts';

/*
 * The options and columns are those that POSIX, the BSDs with macOS, and procps share:
 *   https://pubs.opengroup.org/onlinepubs/9799919799/utilities/ps.html   -A, -o, pid, ppid, pgid, args
 *   https://man.freebsd.org/cgi/man.cgi?query=ps&sektion=1               uid, rss, stat, lstart, -w (macOS likewise)
 *   https://man7.org/linux/man-pages/man1/ps.1.html                      the same
 * Each column has an `-o` of its own, because for POSIX and the BSDs all that follows `=` is the heading.
 */
const columns = ['pid', 'ppid', 'pgid', 'uid', 'rss', 'stat', 'lstart'];

const asArguments = (names: readonly string[]): string[] => names.flatMap((name) => ['-o', `${name}=`]);

/**
 * List every process, by `ps`.
 * @throws Error if there is no usable `ps`: it fails, or does not list this process in the wanted form
 */
export async function listByPs(run: RunPs = runPs): Promise<ProcessInfo[]> {
  const text = await run(['-A', ...asArguments(columns)]);
  const rows = text.split('\n').flatMap((line) => parsePsLine(line) ?? []);
  if (rows.some(({ pid }) => pid === process.pid)) return rows;
  const [first = ''] = text.trim().split('\n');
  throw new Error(`its answer begins with "${first.slice(0, 60)}"`);
}

type RunPs = (args: readonly string[]) => Promise<string>;

async function runPs(args: readonly string[]): Promise<string> {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };
  const limits = { timeout: 10_000, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)('ps', args, { env, ...limits })).stdout;
}

/** Parse a line with the columns above; null for a zombie or anything else. */
export function parsePsLine(line: string): ProcessInfo | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([^Z\s]\S*)\s+(\S.*)$/.exec(line);
  if (match === null) return null;
  const [, pid, ppid, group, uid, kibibytes, , startTime = ''] = match;
  if (Number.isNaN(startSeconds(startTime))) return null;
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    group: Number(group),
    session: 0,
    uid: Number(uid),
    startTime: startTime.trim(),
    residentBytes: Number(kibibytes) * 1024,
    isNamespaceInit: false,
  };
}

/** Seconds of a start time since 1970; NaN for anything else. */
export const startSeconds = (startTime: string): number => Date.parse(`${startTime.trim()} UTC`) / 1000;

/** Return process id and arguments of the processes whose arguments contain a text. */
export async function listWithArgument(
  text: string,
  run: RunPs = runPs,
): Promise<{ pid: number; args: string }[]> {
  // -ww: without it the BSDs cut a line at 80 columns.
  const output = await run(['-A', '-ww', ...asArguments(['pid', 'args'])]);
  return output.split('\n').flatMap((line) => {
    const [, pid, args = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return ` ${args} `.includes(` ${text} `) ? [{ pid: Number(pid), args }] : [];
  });
}
