import { readdir, readFile, readlink } from 'node:fs/promises';
import { descendants } from '../proofs/bench/descendants.ts';

/** State of a listening socket in /proc/net/tcp. */
const listening = '0A';

async function socketsOf(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}

/** TCP ports of this network on which a process or one of its descendants listens. */
export async function listeningPorts(root: number): Promise<number[]> {
  const own = new Set((await Promise.all((await descendants(root)).map(socketsOf))).flat());
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
  const rows = tables.flatMap((table) => table.trim().split('\n').slice(1));
  const ports = rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    return state === listening && own.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
  return [...new Set(ports)];
}
