import { readFileSync, writeFileSync } from 'node:fs';

/** The greatest score of the kernel: such a process is killed before any other. */
const firstToGo = 1000;

/**
 * Have the kernel kill a process, and all that it starts from now on, before any other when memory runs out. Where this
 * process is root, an unprivileged process cannot undo it.
 */
export function offerToOomKiller(pid: number | undefined): void {
  if (pid !== undefined) setScore(pid, firstToGo);
}

function setScore(pid: number | 'self', score: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch {
    // Another platform, or it has ended.
  }
}

/** A supervisor is killed before the service, but after its command, so that it can report what happened. */
const secondToGo = 500;

/** Have the kernel kill this process before the service that started it. */
export function offerSupervisorToOomKiller(): void {
  setScore('self', secondToGo);
}

/** How many processes of this machine the kernel has killed for lack of memory; 0 where it does not report it. */
export function kernelOomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
