import { setTimeout as sleep } from 'node:timers/promises';
import { findProcesses, killTree, type ProcessSelector, signalProcesses } from './process-tree.ts';

const POLL_MS = 100;

/**
 * Asks every process of a tree to end (SIGTERM), gives them the grace to save their work, and kills what
 * remains. The selection is asked for anew each time, as it can narrow when its first process has ended.
 * @param waiter a process that only waits for the others, and would hand the signal on to them a second time
 * @returns whether anything had to be killed
 */
export async function terminate(
  selection: () => ProcessSelector,
  graceSeconds: number,
  waiter?: number,
): Promise<boolean> {
  const deadline = performance.now() + graceSeconds * 1000;
  await signalProcesses(selection(), 'SIGTERM', waiter);
  await signalProcesses(selection(), 'SIGCONT'); // a stopped process would not notice
  // The init of a sandbox ignores what it is asked, and ends nothing by staying.
  while ((await findProcesses(selection())).some(({ isNamespaceInit }) => !isNamespaceInit)) {
    const left = deadline - performance.now();
    if (left <= 0) {
      await killTree(selection());
      return true;
    }
    await sleep(Math.min(left, POLL_MS));
  }
  return false;
}

/** The longest that a timer of Node.js can wait; beyond, it would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Settles with what interrupts a command first; `cancel` lets go of the timer and the signal. */
export function interruption(
  stop: AbortSignal,
  timeoutSeconds: number | undefined,
): { reason: Promise<'timeout' | 'stopped'>; cancel: () => void } {
  const { promise, resolve } = Promise.withResolvers<'timeout' | 'stopped'>();
  const onStop = () => resolve('stopped');
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  const timer =
    timeoutSeconds === undefined
      ? undefined
      : setTimeout(resolve, Math.min(timeoutSeconds * 1000, MAX_TIMER_MS), 'timeout');
  const cancel = () => {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
  };
  return { reason: promise, cancel };
}
