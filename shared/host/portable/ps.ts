import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ProcessInfo } from '../host.ts';

/*
 * The options and columns are those that POSIX, the BSDs with macOS, and procps share:
 *   https://pubs.opengroup.org/onlinepubs/9799919799/utilities/ps.html   -A, -o, pid, ppid, pgid, time
 *   https://man.freebsd.org/cgi/man.cgi?query=ps&sektion=1               uid, rss, stat, lstart (macOS likewise)
 *   https://man7.org/linux/man-pages/man1/ps.1.html                      the same
 * Each column has an `-o` of its own, because for POSIX and the BSDs all that follows `=` is the heading.
 */
const columns = ['pid', 'ppid', 'pgid', 'uid', 'rss', 'stat', 'time', 'lstart'].flatMap((name) => [
  '-o',
  `${name}=`,
]);

/**
 * List every process, by `ps`.
 * @throws Error if there is no usable `ps`: it fails, or does not list this process in the wanted form
 */
export async function listByPs(run: RunPs = runPs): Promise<ProcessInfo[]> {
  const { text, pid: own } = await run(['-A', ...columns]);
  const rows = text.split('\n').flatMap((line) => parsePsLine(line) ?? []);
  // `ps` lists itself too.
  if (rows.some(({ pid }) => pid === process.pid)) return rows.filter(({ pid }) => pid !== own);
  const [first = ''] = text.trim().split('\n');
  throw new Error(`its answer begins with "${first.slice(0, 60)}"`);
}

/** Runs `ps` and returns its output and its own pid. */
type RunPs = (args: readonly string[]) => Promise<{ text: string; pid: number | undefined }>;

async function runPs(args: readonly string[]): ReturnType<RunPs> {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };
  const limits = { timeout: 10_000, maxBuffer: 64 * 1024 * 1024 };
  const running = promisify(execFile)('ps', args, { env, ...limits });
  return { text: (await running).stdout, pid: running.child.pid };
}

/** Parse a line with the columns above; null for a zombie or anything else. */
export function parsePsLine(line: string): ProcessInfo | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([^Z\s]\S*)\s+([\d:.-]+)\s+(\S.*)$/.exec(line);
  if (match === null) return null;
  const [, pid, ppid, group, uid, kibibytes, , time = '', startTime = ''] = match;
  if (Number.isNaN(startSeconds(startTime))) return null;
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    group: Number(group),
    session: 0,
    uid: Number(uid),
    startTime: startTime.trim(),
    residentBytes: Number(kibibytes) * 1024,
    cpuSeconds: secondsOf(time),
    isNamespaceInit: false,
  };
}

/** Seconds of a time such as `1-02:03:04`, or `12:03.45` as the BSDs write it. */
function secondsOf(time: string): number {
  const [clock = '', days = '0'] = time.split('-').toReversed();
  return clock.split(':').reduce((sum, part) => 60 * sum + Number(part), 0) + 86_400 * Number(days);
}

/** Seconds of a start time since 1970; NaN for anything else. */
export const startSeconds = (startTime: string): number => Date.parse(`${startTime.trim()} UTC`) / 1000;
