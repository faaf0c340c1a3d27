import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from './service-error.ts';

const signals = new AsyncLocalStorage<AbortSignal>();

/** Milliseconds of work after which the others get a turn of the event loop. */
const sliceMilliseconds = 8;
let turnedAt = performance.now();

/** Do work whose reads fail once the signal is aborted, however deep they are called. */
export function runStoppable<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  // Its first slice begins now: a turn before its first reads would send those apart from others of this moment.
  turnedAt = performance.now();
  return signals.run(signal, work);
}

/** @throws ServiceError `unavailable` within {@link runStoppable}, once nobody waits for the result any more */
export function throwIfStopped(): void {
  if (signals.getStore()?.aborted === true) throw stopped();
}

/** The end of work that nobody waits for any more. */
export const stopped = (): ServiceError =>
  new ServiceError('unavailable', 'The request was given up before its answer was ready.', {
    retryAfterSeconds: 1,
  });

/**
 * For loops over what is in memory already, which await nothing else: other requests get their turn.
 * @throws ServiceError as {@link throwIfStopped}
 */
export async function breathe(): Promise<void> {
  throwIfStopped();
  if (performance.now() - turnedAt < sliceMilliseconds) return;
  await nextTurn();
  turnedAt = performance.now();
  throwIfStopped();
}
