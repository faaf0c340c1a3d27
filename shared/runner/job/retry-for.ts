import { setTimeout as delay } from 'node:timers/promises';
import { ConditionFailedError } from '../../data/write-label.ts';

const longestPause = 10_000;

/**
 * Does something again and again, with growing pauses, until it succeeds or `seconds` are over: for writes that a
 * job's outcome depends on, while a service is away for a while. A refused condition is an answer, not a fault.
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
