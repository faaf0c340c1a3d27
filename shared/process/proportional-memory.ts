import { readFileSync } from 'node:fs';

/** Return the resident bytes of a process; undefined if it has ended or the system does not report them. */
export function residentBytes(pid: number): number | undefined {
  return bytesOf(readProcFile(`/proc/${pid}/status`), 'VmRSS');
}

const bytesOf = (text: string | undefined, field: string): number | undefined => {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text ?? '')?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
};

function readProcFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // It has ended, may not be read, or this is not Linux.
  }
}

/**
 * Return the resident bytes of a process with its proportional share of shared pages (PSS). Takes the kernel
 * milliseconds per GB.
 */
export function proportionalBytes(pid: number): number | undefined {
  return bytesOf(readProcFile(`/proc/${pid}/smaps_rollup`), 'Pss');
}
