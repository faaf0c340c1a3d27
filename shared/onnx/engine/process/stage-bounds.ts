import type { ChildProcess } from 'node:child_process';
import { thisHost } from '../../../host/this-host.ts';

/** Limits of a stage's process. */
export interface Bounds {
  memoryBytes: number;
  seconds: number;
}

const intervalMs = Math.max(100, thisHost.memoryMilliseconds);

export interface BoundsWatch {
  /** Return the exceeded limit as a sentence without its full stop; undefined if no limit was exceeded. */
  exceeded(): string | undefined;
  /** Return the largest observed resident memory in bytes. */
  peak(): number;
  stop(): void;
}

/** Kill a process and its group. Does nothing if the process has ended, because its id may have been reused. */
export function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20).toLocaleString('en-US')} MiB`;

/** Watch a process that leads a group. Kill it when it exceeds its bounds or on `stop`. */
export function watchBounds(child: ChildProcess, bounds: Bounds, stop: AbortSignal): BoundsWatch {
  let [peak, isStopped] = [0, false];
  let exceeded: string | undefined;
  const end = (reason?: string): void => {
    exceeded ??= reason;
    endGroup(child);
  };
  const onStop = (): void => end();
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  // The longest timer of Node.js. A longer one fires at once.
  const wait = Math.min(bounds.seconds * 1000, 2 ** 31 - 1);
  const deadline = setTimeout(() => end(`It took longer than ${bounds.seconds} seconds`), wait);
  const look = async (): Promise<void> => {
    const memory = child.pid === undefined ? null : await thisHost.memoryWithChildren(child.pid);
    peak = Math.max(peak, memory?.peak ?? 0);
    if ((memory?.now ?? 0) > bounds.memoryBytes) {
      end(`It took more than the ${megabytes(bounds.memoryBytes)} of memory available to it`);
    }
    if (!isStopped) timer = setTimeout(() => void look(), intervalMs);
  };
  let timer = setTimeout(() => void look(), intervalMs);
  return {
    exceeded: () => exceeded,
    peak: () => peak,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      clearTimeout(deadline);
      stop.removeEventListener('abort', onStop);
    },
  };
}
