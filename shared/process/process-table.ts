import { execFile } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { promisify } from 'node:util';

/** A process that can still run code. Zombies are excluded. */
export interface ProcessInfo {
  pid: number;
  ppid: number;
  /** Process group. */
  group: number;
  /** Session; 0 off Linux, because `ps` does not report it. */
  session: number;
  /** Real user id. A set-uid program does not change it. */
  uid: number;
  /** Start time. Distinguishes successive processes with the same pid, also across restarts of the machine. */
  startTime: string;
  /** Resident memory in bytes, including pages shared with other processes. */
  residentBytes: number;
  /** Whether the process is the init of a namespace below this process's own. */
  isNamespaceInit: boolean;
}

export interface EnvironmentMarker {
  name: string;
  value: string;
}

/** List every process of this machine or container at about this moment. */
export async function listProcesses(): Promise<ProcessInfo[]> {
  return process.platform === 'linux' ? listFromProc() : await listFromPs();
}

/*
 * Linux. The reads are synchronous on purpose: /proc is in memory, and an uninterrupted listing misses fewer of the
 * processes that a fork bomb starts meanwhile.
 */
function listFromProc(): ProcessInfo[] {
  const boot = bootId();
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readFromProc(Number(name), boot))
    .filter((row) => row !== null);
}

function bootId(): string {
  return readProcFile('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function readProcFile(path: string): string | null {
  try {
    // UTF-8 avoids Node's 64 KiB buffer. No byte of a multi-byte character is a `)`.
    return readFileSync(path, 'utf8');
  } catch {
    return null; // It has ended, or may not be read.
  }
}

/**
 * The flag of kernel threads. No program runs in them and no signal ends them. They are often two thirds of the
 * rows.
 */
const kernelThread = 0x0020_0000;

function readFromProc(pid: number, boot: string): ProcessInfo | null {
  const stat = readProcFile(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The program's name is in parentheses and may contain any character, including parentheses and line feeds.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, group, session] = fields;
  if ((Number(fields[6]) & kernelThread) !== 0) return null;
  const status = readProcFile(`/proc/${pid}/status`);
  if (status === null) return null;
  const threads = Number(fields[17]);
  // A process whose first thread has ended looks like a zombie while its other threads run on.
  if (((state === 'Z' || state === 'X') && threads <= 1) || session === undefined) return null;
  return {
    pid,
    ppid: Number(ppid),
    group: Number(group),
    session: Number(session),
    uid: Number(/^Uid:\t(\d+)/m.exec(status)?.[1] ?? Number.NaN),
    startTime: `${boot}/${fields[19]}`,
    residentBytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024,
    isNamespaceInit: /^NSpid:(\t\d+)+\t1$/m.test(status),
  };
}

/* Everywhere else: POSIX ps. */
async function listFromPs(): Promise<ProcessInfo[]> {
  const { stdout } = await ps(['-A', '-o', 'pid=,ppid=,pgid=,uid=,rss=,stat=,lstart=']);
  return stdout.split('\n').flatMap((line) => parsePsLine(line) ?? []);
}

function ps(args: readonly string[]): Promise<{ stdout: string }> {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };
  return promisify(execFile)('ps', args, { env, maxBuffer: 64 * 1024 * 1024 });
}

/** A line of `ps -o pid=,ppid=,pgid=,uid=,rss=,stat=,lstart=`; null for a zombie or anything else. */
export function parsePsLine(line: string): ProcessInfo | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([^Z\s]\S*)\s+(\S.*)$/.exec(line);
  if (match === null) return null;
  const [, pid, ppid, group, uid, kibibytes, , startTime = ''] = match;
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

/** Read the process of a pid; null if there is none or it has ended. */
export async function readProcess(pid: number): Promise<ProcessInfo | null> {
  if (process.platform === 'linux') return readFromProc(pid, bootId());
  return (await listFromPs()).find((row) => row.pid === pid) ?? null;
}

/** Filter the processes that were started with the marker in their environment. */
export async function withMarker(
  candidates: readonly ProcessInfo[],
  marker: EnvironmentMarker,
): Promise<ProcessInfo[]> {
  if (process.platform === 'linux') {
    const wanted = Buffer.from(`\0${marker.name}=${marker.value}\0`);
    // Share one buffer. Allocating one per process took longer than reading.
    const chunk = Buffer.alloc(64 * 1024);
    return candidates.filter(({ pid }) => hasMarker(pid, wanted, chunk));
  }
  // Off Linux only macOS shows environments. They follow the command, separated by blanks.
  const { stdout } = await ps(['-A', '-E', '-o', 'pid=,command=']).catch(() => ({ stdout: '' }));
  const wanted = ` ${marker.name}=${marker.value} `;
  const pids = stdout.split('\n').filter((line) => `${line} `.includes(wanted));
  const marked = new Set(pids.map((line) => Number.parseInt(line, 10)));
  return candidates.filter(({ pid }) => marked.has(pid));
}

/**
 * Most bytes to read: 6 MiB, which is the limit of exec. A process can make its environment look endless (prctl).
 */
const maxEnvironmentBytes = 6 * 1024 * 1024;

/** @param chunk buffer for reading the environment piece by piece */
function hasMarker(pid: number, wanted: Buffer, chunk: Buffer): boolean {
  let carried: Buffer = Buffer.from('\0');
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/environ`, 'r');
    for (let read = 0; read < maxEnvironmentBytes; ) {
      const bytes = readSync(file, chunk);
      const window = Buffer.concat([carried, bytes === 0 ? Buffer.from('\0') : chunk.subarray(0, bytes)]);
      if (window.includes(wanted)) return true;
      if (bytes === 0) return false;
      carried = window.subarray(-wanted.length);
      read += bytes;
    }
    return false;
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
