import { writeFileSync } from 'node:fs';
import { readProcFile } from './read-proc-file.ts';

/** The highest OOM score adjustment. The kernel kills such a process first. */
const firstToGo = 1000;

/**
 * Make the kernel kill a process and its future children before any other when memory runs out. If this process is
 * root, an unprivileged process cannot undo it.
 */
export function offerToOomKiller(pid: number | undefined): void {
  if (pid !== undefined) setScore(pid, firstToGo);
}

function setScore(pid: number | 'self', score: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch {
    // The process has ended.
  }
}

/**
 * Score of a supervisor. The kernel kills it before the service, but after its command, so it can report the
 * event.
 */
const secondToGo = 500;

/** Make the kernel kill this process before the service that started it. */
export function offerSupervisorToOomKiller(): void {
  setScore('self', secondToGo);
}

/**
 * Count the processes of this machine that the kernel has killed for lack of memory; 0 if it does not report them.
 */
export const kernelOomKills = (): number =>
  Number(/^oom_kill (\d+)$/m.exec(readProcFile('/proc/vmstat') ?? '')?.[1] ?? 0);
