import { readFile } from 'node:fs/promises';

export interface ResidentMemory {
  /** Current bytes. */
  now: number;
  /** Peak bytes; the current bytes on systems that report no peak. */
  peak: number;
}

const kilobytes = (status: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;

/** Child processes of a single-threaded process; empty if the system does not list them. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Resident memory of a process plus its children. In a sandbox the process only waits for its children. */
export async function residentMemoryOfBoth(pid: number): Promise<ResidentMemory | null> {
  const own = await residentMemory(pid);
  if (own === null) return null;
  const children = await Promise.all((await childrenOf(pid)).map(residentMemory));
  const all = [own, ...children.filter((memory) => memory !== null)];
  return {
    now: all.reduce((sum, { now }) => sum + now, 0),
    peak: Math.max(...all.map(({ peak }) => peak)),
  };
}

/** Resident memory of a process; null if it has ended. */
export async function residentMemory(pid: number): Promise<ResidentMemory | null> {
  try {
    if (process.platform === 'linux') {
      const status = await readFile(`/proc/${pid}/status`, 'latin1');
      return { now: kilobytes(status, 'VmRSS'), peak: kilobytes(status, 'VmHWM') };
    }
    const { execFile } = await import('node:child_process');
    const { promisify } = await import('node:util');
    const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
    const now = Number(stdout.trim()) * 1024;
    return { now, peak: now };
  } catch {
    return null;
  }
}
