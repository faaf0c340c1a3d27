import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ended } from './process.ts';

/** Waits until a process is stopped; false when it ended instead. */
export async function stopped(pid: number, ended: Promise<Ended>): Promise<boolean> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    if (await isStopped(pid)) return true;
    await sleep(5);
  }
  return false;
}

/** A process whose pause is seen by the state that the kernel gives it. */
export async function isStopped(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /\) [Tt] /.test(stat);
}
