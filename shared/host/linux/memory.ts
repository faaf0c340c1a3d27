import { writeFileSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import type { ResidentMemory } from '../host.ts';
import { readProcFile } from './read-proc-file.ts';

/** Return the resident bytes of a process; undefined if it has ended or the system does not report them. */
export const residentBytes = (pid: number): number | undefined =>
  bytesOf(readProcFile(`/proc/${pid}/status`), 'VmRSS');

const bytesOf = (text: string | null, field: string): number | undefined => {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text ?? '')?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
};

/**
 * Return the resident bytes of a process with its proportional share of shared pages (PSS). Takes the kernel
 * milliseconds per GB.
 */
export const proportionalBytes = (pid: number): number | undefined =>
  bytesOf(readProcFile(`/proc/${pid}/smaps_rollup`), 'Pss');

/** Return the resident memory of a process; null if it has ended. */
export function residentMemory(pid: number | 'self'): ResidentMemory | null {
  const status = readProcFile(`/proc/${pid}/status`);
  if (status === null) return null;
  return { now: bytesOf(status, 'VmRSS') ?? 0, peak: bytesOf(status, 'VmHWM') ?? 0 };
}

/** Return the child processes of a single-threaded process; empty if the system does not list them. */
export const childrenOf = (pid: number): number[] =>
  (readProcFile(`/proc/${pid}/task/${pid}/children`) ?? '').split(' ').filter(Boolean).map(Number);

/** Reset the peak of this process's resident memory, if the system allows it. */
export function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // a sandbox may forbid it
  }
}

const prlimit = '/usr/bin/prlimit';

/** Return a command whose address space the kernel limits, if prlimit of util-linux is installed. */
export async function withMemoryLimit(command: readonly string[], bytes: number): Promise<readonly string[]> {
  try {
    await access(prlimit, constants.X_OK);
  } catch {
    return command;
  }
  return [prlimit, `--data=${Math.round(bytes)}`, '--core=0', '--', ...command];
}
