import { readFileSync } from 'node:fs';

function readProcFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // It ended meanwhile, is not ours to read, or this is no Linux.
  }
}

const bytesOf = (text: string | undefined, field: string): number | undefined => {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text ?? '')?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
};

/** Resident bytes of a process, cheaply; undefined where it has ended or the system does not tell. */
export function residentBytes(pid: number): number | undefined {
  return bytesOf(readProcFile(`/proc/${pid}/status`), 'VmRSS');
}

/** Resident bytes of a process, of pages that it shares its part alone. Takes the kernel milliseconds for each GB. */
export function proportionalBytes(pid: number): number | undefined {
  return bytesOf(readProcFile(`/proc/${pid}/smaps_rollup`), 'Pss');
}
