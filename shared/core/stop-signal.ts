import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from './service-error.ts';

const signals = new AsyncLocalStorage<AbortSignal>();

/** Milliseconds of work before other requests get a turn of the event loop. */
const sliceMilliseconds = 8;
let turnedAt = performance.now();

/** Run work that stops when the signal is aborted: its reads then throw, at any call depth. */
export function runStoppable<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  // The first slice begins now. A turn before the first reads would separate them from other reads of this moment.
  turnedAt = performance.now();
  return signals.run(signal, work);
}

/** @throws ServiceError `unavailable` within {@link runStoppable} after its signal was aborted */
export function throwIfStopped(): void {
  if (signals.getStore()?.aborted === true) throw stopped();
}

/** Return the error that stops work after its request was abandoned. */
export const stopped = (): ServiceError =>
  new ServiceError('unavailable', 'The request was abandoned before its response was ready.', {
    retryAfterSeconds: 1,
  });

/**
 * Give other requests a turn. Use it in loops over data in memory that await nothing else.
 * @throws ServiceError as {@link throwIfStopped}
 */
export async function breathe(): Promise<void> {
  throwIfStopped();
  if (performance.now() - turnedAt < sliceMilliseconds) return;
  await nextTurn();
  turnedAt = performance.now();
  throwIfStopped();
}
