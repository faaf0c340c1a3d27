import { setTimeout as sleep } from 'node:timers/promises';
import { findProcesses, killTree, type ProcessSelector, signalProcesses } from './process-tree.ts';

const pollMilliseconds = 100;

/**
 * Send SIGTERM to every process of a tree, wait for the grace period, and kill the rest.
 * @param selection called before each listing, because it can narrow after the first process has ended
 * @param waiter a process that only waits for the others; it would forward the signal to them a second time
 * @returns whether any process had to be killed
 */
export async function terminate(
  selection: () => ProcessSelector,
  graceSeconds: number,
  waiter?: number,
): Promise<boolean> {
  const deadline = performance.now() + graceSeconds * 1000;
  await signalProcesses(selection(), 'SIGTERM', waiter);
  await signalProcesses(selection(), 'SIGCONT'); // A stopped process would not get it.
  // The init of a sandbox ignores SIGTERM. Do not wait for it.
  while ((await findProcesses(selection())).some(({ isNamespaceInit }) => !isNamespaceInit)) {
    const left = deadline - performance.now();
    if (left <= 0) {
      await killTree(selection());
      return true;
    }
    await sleep(Math.min(left, pollMilliseconds));
  }
  return false;
}

/** The longest timer of Node.js. A longer one fires at once. */
const maxTimerMilliseconds = 2 ** 31 - 1;

/**
 * Resolve with the first interruption of a command: its timeout or `stop`. `cancel` removes the timer and the
 * listener.
 */
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
      : setTimeout(resolve, Math.min(timeoutSeconds * 1000, maxTimerMilliseconds), 'timeout');
  const cancel = () => {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
  };
  return { reason: promise, cancel };
}
