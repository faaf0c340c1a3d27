import { ProblemError } from './problem-error.ts';
import { wait } from './retry.ts';
import { UnreachableError } from './unreachable-error.ts';

/** Answer of an operation that tells what is new. */
export interface LiveAnswer {
  /** Cursor of the next request; null at the end. */
  after: string | null;
  /** Seconds to wait before the next request. The service itself waits where this is 0. */
  retry_after: number;
}

export interface Following {
  signal?: AbortSignal;
  /** Milliseconds between two attempts while the service is unreachable. */
  awayMilliseconds?: number;
  /** Called once when the service becomes unreachable, and once when it is back. */
  onConnection?(isLost: boolean): void;
}

/**
 * Yield answers until the last one. The client keeps the cursor, so each line and point comes once, even if the service
 * restarts.
 */
export async function* followLive<A extends LiveAnswer>(
  ask: (after: string | undefined) => Promise<A>,
  { signal, awayMilliseconds = 1_000, onConnection }: Following = {},
): AsyncGenerator<A> {
  let after: string | undefined;
  let isLost = false;
  for (;;) {
    let answer: A;
    try {
      answer = await ask(after);
    } catch (error) {
      if (!isAway(error)) throw error;
      if (!isLost) onConnection?.(true);
      isLost = true;
      await wait(awayMilliseconds, signal);
      continue;
    }
    if (isLost) onConnection?.(false);
    isLost = false;
    yield answer;
    if (answer.after === null) return;
    after = answer.after;
    if (answer.retry_after > 0) await wait(answer.retry_after * 1000, signal);
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof ProblemError && error.status === 503);
