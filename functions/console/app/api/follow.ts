import type { LiveAnswer } from '../../../../shared/client/follow-live.ts';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { wait } from '../../../../shared/client/retry.ts';
import { noteReach } from './poller.ts';
import { isExpired } from './session.ts';

interface Follower<A extends LiveAnswer> {
  ask(after: string | undefined, signal: AbortSignal): Promise<A>;
  /** Called with each answer. The first one begins anew. */
  take(answer: A, isFirst: boolean): void;
  fail(error: unknown): void;
}

const againMilliseconds = 4_000;

/**
 * Follow live answers until the last one, while the page is visible. The service waits for news, so this does not take turns
 * with the poller. Return a function that stops it.
 */
export function follow<A extends LiveAnswer>(follower: Follower<A>): () => void {
  const ending = new AbortController();
  void run(follower, ending.signal);
  return () => ending.abort();
}

async function run<A extends LiveAnswer>({ ask, take, fail }: Follower<A>, signal: AbortSignal) {
  let after: string | undefined;
  while (!signal.aborted) {
    await untilSeen(signal);
    const hiding = new AbortController();
    const look = () => isSeen() || hiding.abort();
    document.addEventListener('visibilitychange', look);
    try {
      const answer = await ask(after, AbortSignal.any([signal, hiding.signal]));
      if (signal.aborted) return;
      noteReach();
      take(answer, after === undefined);
      if (answer.after === null) return;
      after = answer.after;
      await wait(answer.retry_after * 1000, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (hiding.signal.aborted) continue;
      noteReach(error);
      // The service no longer knows the cursor, so begin anew.
      if (error instanceof ProblemError && error.status === 400) after = undefined;
      fail(error);
      await wait(againMilliseconds, signal).catch(() => undefined);
    } finally {
      document.removeEventListener('visibilitychange', look);
    }
  }
}

const isSeen = (): boolean => !document.hidden && !isExpired.value;

function untilSeen(signal: AbortSignal): Promise<void> {
  if (isSeen() || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (!isSeen() && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      unsubscribe?.();
      resolve();
    };
    let unsubscribe: (() => void) | undefined;
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    unsubscribe = isExpired.subscribe(look);
  });
}
