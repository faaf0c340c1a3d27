import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../core/service-error.ts';
import { ConditionFailedError } from './write-label.ts';

/**
 * Make an optimistic change: `act` reads, and writes on the condition that nothing has changed since. When another change
 * came between, call it again, at most ten times in all unless `calls` says otherwise.
 * @param act receives the number of the call, from 1
 * @throws ServiceError `conflict` after the last call, unless `giveUp` does something else
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
      throw new ServiceError('conflict', 'Others are changing this at the same time. Try again.', {
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

/** Returned where the reads were out of date, for another call. */
export const readAgain: unique symbol = Symbol('read again');

/** Of contenders for one record one succeeds in each round, so as many as this all succeed. */
const maxCalls = 10;

interface RetryOptions<T> {
  /** Calls at most; 10 unless given. */
  calls?: number;
  /** Whether a failed condition is a conflict with another change, which another call may not meet. Default: always. */
  isConflict?: (error: ConditionFailedError) => boolean;
  /** What to do after the last call. Default: throw a `conflict`. */
  giveUp?: (cause: unknown) => T;
}

/**
 * Wait before a retry, in milliseconds: full jitter below a limit that doubles from 10 with each retry, so that
 * contenders for one item do not keep meeting.
 * @param retry number of the retry, from 0
 */
export function jitteredPause(retry: number, longest = 200): Promise<void> {
  return delay(Math.random() * Math.min(longest, 10 * 2 ** retry));
}

/** The table did not do all of what was asked, because it is throttling or because others kept changing the same items. */
export class TableBusyError extends Error {
  override readonly name = 'TableBusyError';
}
