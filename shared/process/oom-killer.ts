import { readFileSync, writeFileSync } from 'node:fs';

/** The kernel's scale ends here: such a process is ended before any other. */
const firstToGo = 1000;
/** A supervisor goes before the service, but after what it supervises, so that it can say what happened. */
const secondToGo = 500;

function setScore(pid: number | 'self', score: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch {
    // Another platform, or it has ended.
  }
}

/**
 * Has the kernel end a process, and what it starts from now on, before any other when memory runs out. Where this
 * process is root, nothing without rights can take it back.
 */
export function offerToOomKiller(pid: number | undefined): void {
  if (pid !== undefined) setScore(pid, firstToGo);
}

/** Has the kernel end this process before the service that started it. */
export function offerSupervisorToOomKiller(): void {
  setScore('self', secondToGo);
}

/** How many processes of this machine the kernel has ended for want of memory so far; 0 where it does not tell. */
export function kernelOomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
