import { setTimeout as delay } from 'node:timers/promises';
import { ConditionFailedError } from '../../data/table/write-label.ts';

const longestPause = 10_000;

/**
 * Retry a call with growing pauses until it succeeds or `seconds` have passed: for reads and writes on which the outcome
 * of a job depends, while a service is unavailable. A failed condition is an answer of the table, and is not retried.
 * @throws the last error
 * @example
 * const lease = await retryFor(60, () => findLease(records, job_id, node));
 */
export async function retryFor<T>(seconds: number, act: () => Promise<T>): Promise<T> {
  const until = performance.now() + seconds * 1000;
  for (let pause = 100; ; pause = Math.min(pause * 2, longestPause)) {
    try {
      return await act();
    } catch (error) {
      if (error instanceof ConditionFailedError || performance.now() + pause > until) throw error;
      await delay(pause * (0.5 + Math.random() / 2));
    }
  }
}

/** Seconds to retry a call that the job can do without, or for which its end waits. */
export const shortPatience = 60;

/** Seconds to retry a call without which the job fails. */
export const longPatience = 600;
