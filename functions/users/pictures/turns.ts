import { ServiceError } from '../../../shared/core/service-error.ts';

/**
 * Run one piece of work at a time, which bounds the memory for any number of callers. Refuse a caller as
 * `unavailable` if `most` callers are waiting.
 */
export function turns(most: number): TakeTurn {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (work) => {
    if (waiting === most) {
      throw new ServiceError('unavailable', 'Too many pictures are being processed. Try again shortly.', {
        retryAfterSeconds: 5,
      });
    }
    waiting += 1;
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    waiting -= 1;
    try {
      return await work();
    } finally {
      resolve();
    }
  };
}

/** Run the work when its turn has come, and return its result. */
export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>;
