import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { descendants } from './descendants.ts';

interface ProcessMemory {
  name: string;
  /** Resident megabytes. */
  rss: number;
  /** Megabytes, of shared pages only its share. */
  pss: number;
}

export interface Memory {
  processes: ProcessMemory[];
  /** Sums, in megabytes. */
  rss: number;
  pss: number;
}

const megabytes = (rollup: string, field: string): number =>
  (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0) * 1024) / 1e6;

async function nameOf(pid: number): Promise<string> {
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  const script = words.find((word) => /\.m?js$/.test(word));
  if (script?.includes('/s3/') === true) return 's3';
  if (script?.endsWith('launch.mjs') === true) return 'service';
  return basename(words[0]?.split(' ')[0] ?? '');
}

/** Memory of a process and all below it, by `/proc/<pid>/smaps_rollup`: Linux only. */
export async function memoryOfTree(root: number): Promise<Memory> {
  const processes = await Promise.all(
    (await descendants(root)).map(async (pid): Promise<ProcessMemory> => {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
      return { name: await nameOf(pid), rss: megabytes(rollup, 'Rss'), pss: megabytes(rollup, 'Pss') };
    }),
  );
  const sum = (of: (one: ProcessMemory) => number) => processes.reduce((total, one) => total + of(one), 0);
  return { processes, rss: sum(({ rss }) => rss), pss: sum(({ pss }) => pss) };
}
