import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../core/service-error.ts';
import { ConditionFailedError } from './write-label.ts';

/**
 * Make an optimistic change. `act` reads, then writes on the condition that nothing has changed since. On a
 * conflict, call it again. The default limit is ten calls; `calls` overrides it.
 * @param act receives the number of the call, from 1
 * @throws ServiceError `conflict` after the last call, unless `giveUp` is given
 *
 * @example
 * const next = await retryOnConflict(async () => {
 *   const { version } = await requireProject(records, project_id);
 *   await records.write({ update: key, change: { add: { version: 1 } }, if: { equals: { version } } });
 *   return version + 1;
 * });
 */
export async function retryOnConflict<T>(
  act: (number: number) => Promise<T | typeof readAgain>,
  {
    calls = maxCalls,
    isConflict = () => true,
    giveUp = (cause) => {
      throw new ServiceError('conflict', 'Other requests are changing this at the same time. Try again.', {
        cause,
      });
    },
  }: RetryOptions<T> = {},
): Promise<T> {
  for (let number = 1; ; number += 1) {
    let conflict: ConditionFailedError | undefined;
    try {
      const result = await act(number);
      if (result !== readAgain) return result;
    } catch (error) {
      if (!(error instanceof ConditionFailedError && isConflict(error))) throw error;
      conflict = error;
    }
    if (number >= calls) return giveUp(conflict);
    await jitteredPause(number - 1);
  }
}

/** Return value of `act` that requests another call because the reads were out of date. */
export const readAgain: unique symbol = Symbol('read again');

/** In each round, one contender for a record succeeds. So this many contenders all succeed. */
const maxCalls = 10;

interface RetryOptions<T> {
  /** Maximum number of calls. Default: 10. */
  calls?: number;
  /** Whether a failed condition is a conflict that a retry may avoid. Default: always. */
  isConflict?: (error: ConditionFailedError) => boolean;
  /** Handler after the last call. Default: throw a `conflict`. */
  giveUp?: (cause: unknown) => T;
}

/**
 * Wait before a retry, with full jitter. The limit doubles from 10 ms with each retry, so contenders for one item
 * do not collide again and again.
 * @param retry number of the retry, from 0
 */
export function jitteredPause(retry: number, longest = 200): Promise<void> {
  return delay(Math.random() * Math.min(longest, 10 * 2 ** retry));
}

/**
 * The table did not complete a request, because it throttles or because other processes kept changing the same
 * items.
 */
export class TableBusyError extends Error {
  override readonly name = 'TableBusyError';
}
