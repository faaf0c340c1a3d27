import { readdir, readFile, readlink } from 'node:fs/promises';

/** State of a listening socket in /proc/net/tcp. */
const listening = '0A';

async function parents(): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const parent = text.slice(text.lastIndexOf(')') + 2).split(' ')[1];
    if (parent !== undefined) found.set(Number(name), Number(parent));
  }
  return found;
}

/** A process and its descendants. */
export async function processTree(root: number): Promise<number[]> {
  const all = await parents();
  const tree = [root];
  for (const pid of tree) for (const [child, parent] of all) if (parent === pid) tree.push(child);
  return tree;
}

async function socketsOf(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}

/** TCP ports of this network on which a process or one of its descendants listens. */
export async function listeningPorts(root: number): Promise<number[]> {
  const own = new Set((await Promise.all((await processTree(root)).map(socketsOf))).flat());
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
  const rows = tables.flatMap((table) => table.trim().split('\n').slice(1));
  const ports = rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    return state === listening && own.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
  return [...new Set(ports)];
}
