import { ServiceError } from '../../../shared/core/service-error.ts';

/**
 * Runs one piece of work at a time, so that memory is bounded for any number of callers. A caller that finds `most`
 * waiting is refused at once as `unavailable`.
 */
export function turns(most: number): TakeTurn {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (work) => {
    if (waiting === most) {
      throw new ServiceError('unavailable', 'Too many pictures are being worked on. Try again shortly.', {
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

/** Runs what it is given once its turn has come, and answers what that answers. */
export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>;
