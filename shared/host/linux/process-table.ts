import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import type { EnvironmentMarker, ProcessInfo } from '../host.ts';
import { readProcFile } from './read-proc-file.ts';

/**
 * List every process of this machine or container. The reads are synchronous on purpose: /proc is in memory, and an
 * uninterrupted listing misses fewer of the processes that a fork bomb starts meanwhile.
 */
export function listProcesses(): ProcessInfo[] {
  const boot = bootId();
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readFromProc(Number(name), boot))
    .filter((row) => row !== null);
}

/** Read the process of a pid; null if there is none or it has ended. */
export const readProcess = (pid: number): ProcessInfo | null => readFromProc(pid, bootId());

function bootId(): string {
  return readProcFile('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/**
 * The flag of kernel threads. No program runs in them and no signal ends them. They are often two thirds of the
 * rows.
 */
const kernelThread = 0x0020_0000;

/** Unit of times in `/proc`, the same on every architecture that Node.js supports. */
const ticksPerSecond = 100;

function readFromProc(pid: number, boot: string): ProcessInfo | null {
  const stat = readProcFile(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The program's name is in parentheses and may contain any character, including parentheses and line feeds.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, group, session] = fields;
  if ((Number(fields[6]) & kernelThread) !== 0) return null;
  const threads = Number(fields[17]);
  // A process whose first thread has ended looks like a zombie while its other threads run on.
  if (((state === 'Z' || state === 'X') && threads <= 1) || session === undefined) return null;
  const status = new ProcessStatus(pid);
  return {
    pid,
    ppid: Number(ppid),
    group: Number(group),
    session: Number(session),
    startTime: `${boot}/${fields[19]}`,
    // User and system time, of the process and of the children that it has waited for.
    cpuSeconds: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond,
    get uid() {
      return Number(status.match(/^Uid:\t(\d+)/m)?.[1] ?? Number.NaN);
    },
    get residentBytes() {
      return Number(status.match(/^VmRSS:\s+(\d+) kB/m)?.[1] ?? 0) * 1024;
    },
    get isNamespaceInit() {
      return status.match(/^NSpid:(\t\d+)+\t1$/m) !== null;
    },
  };
}

/** Status of a process, read when it is needed: few of a listing are, and reading it takes longer than the rest. */
class ProcessStatus {
  readonly #pid: number;
  #text: string | undefined;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Match the text; of a process that has ended meanwhile it is blank. */
  match(pattern: RegExp): RegExpExecArray | null {
    this.#text ??= readProcFile(`/proc/${this.#pid}/status`) ?? '';
    return pattern.exec(this.#text);
  }
}

/** Filter the processes that were started with the marker in their environment. */
export function withMarker(
  candidates: readonly ProcessInfo[],
  { name, value }: EnvironmentMarker,
): ProcessInfo[] {
  const bytes = Buffer.from(`\0${name}=${value}\0`);
  // Share one buffer. Allocating one per process took longer than reading.
  const chunk = Buffer.alloc(64 * 1024);
  return candidates.filter(({ pid }) => hasMarker(pid, bytes, chunk));
}

/**
 * Maximum bytes to read: 6 MiB, the limit of exec. A process can make its environment look endless (prctl).
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

/**
 * Return a unique identity of a process: id, start time and boot. The system reuses ids. Return only the id if the
 * process has ended.
 */
export function processIdentity(pid: number): string {
  const stat = readProcFile(`/proc/${pid}/stat`);
  if (stat === null) return String(pid);
  // Field 22, counted from after the program's name, which may itself hold spaces and brackets.
  const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return `${pid}-${started}-${bootId().slice(0, 8)}`;
}
