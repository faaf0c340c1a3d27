import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';

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

async function parents(): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    // The program's name, in parentheses, may hold anything; state and parent follow it.
    const parent = text.slice(text.lastIndexOf(')') + 2).split(' ')[1];
    if (parent !== undefined) found.set(Number(name), Number(parent));
  }
  return found;
}

/** Descendants of a process and itself. */
async function treeOf(root: number): Promise<number[]> {
  const all = await parents();
  const tree = [root];
  for (const pid of tree) for (const [child, parent] of all) if (parent === pid) tree.push(child);
  return tree;
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
    (await treeOf(root)).map(async (pid): Promise<ProcessMemory> => {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
      return { name: await nameOf(pid), rss: megabytes(rollup, 'Rss'), pss: megabytes(rollup, 'Pss') };
    }),
  );
  const sum = (of: (one: ProcessMemory) => number) => processes.reduce((total, one) => total + of(one), 0);
  return { processes, rss: sum(({ rss }) => rss), pss: sum(({ pss }) => pss) };
}
