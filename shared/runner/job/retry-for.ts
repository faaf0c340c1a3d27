import { setTimeout as delay } from 'node:timers/promises';
import { ConditionFailedError } from '../../data/table/write-label.ts';

const longestPause = 10_000;

/**
 * Retry a call with growing pauses until it succeeds or `seconds` have passed. For reads and writes that determine
 * a job's outcome, while a service is unavailable. Does not retry a failed condition, because it is an answer of
 * the table.
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

/** Seconds to retry a call that the job can do without, or that delays its end. */
export const shortPatience = 60;

/** Seconds to retry a call that the job requires. */
export const longPatience = 600;
