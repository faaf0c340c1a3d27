import { readdir, readFile } from 'node:fs/promises';

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

/** Process ids of a process and its descendants. Linux only. */
export async function descendants(root: number): Promise<number[]> {
  const all = await parents();
  const tree = [root];
  for (const pid of tree) for (const [child, parent] of all) if (parent === pid) tree.push(child);
  return tree;
}
