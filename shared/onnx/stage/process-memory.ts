import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface ResidentMemory {
  /** Bytes at this moment. */
  now: number;
  /** The most there were; where the system does not tell, those at this moment. */
  peak: number;
}

const run = promisify(execFile);
const kilobytes = (status: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;

/** Resident memory of a process; null when it does not run any more. */
export async function residentMemory(pid: number): Promise<ResidentMemory | null> {
  try {
    if (process.platform === 'linux') {
      const status = await readFile(`/proc/${pid}/status`, 'latin1');
      return { now: kilobytes(status, 'VmRSS'), peak: kilobytes(status, 'VmHWM') };
    }
    const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
    const now = Number(stdout.trim()) * 1024;
    return { now, peak: now };
  } catch {
    return null;
  }
}
