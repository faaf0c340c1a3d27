import type { ProblemError } from './problem-error.ts';
import { UnreachableError } from './unreachable-error.ts';

export interface RetryPolicy {
  /** Maximum number of attempts of a call. */
  attempts: number;
  /** Maximum total seconds of waiting between the attempts. */
  seconds: number;
}

export const usualRetries: RetryPolicy = { attempts: 8, seconds: 60 };

/** Resolve after a delay. @throws the signal's reason if it is aborted */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** An answer after which the client may retry: 429 or 503. */
export class TryAgainError extends Error {
  readonly problem: ProblemError;
  /** Seconds from the `Retry-After` header; undefined if it is missing. */
  readonly after: number | undefined;

  constructor(problem: ProblemError, retryAfter: string | null) {
    super(problem.message, { cause: problem });
    this.problem = problem;
    const seconds = Number(retryAfter ?? Number.NaN);
    this.after = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
  }
}

/** Seconds before the next attempt: exponential backoff with jitter, so clients do not return all at once. */
const backOff = (attempt: number): number =>
  Math.min(8, 0.2 * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2);

/**
 * Retry a call until it succeeds. A 429 is always retried, because the service has not begun the request. A 503 or
 * a lost connection is retried only if `isRepeatable`, because the request may have taken effect.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  {
    policy,
    isRepeatable,
    signal,
  }: { policy: RetryPolicy; isRepeatable: boolean; signal?: AbortSignal | undefined },
): Promise<T> {
  let left = policy.seconds;
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      const again = error instanceof TryAgainError;
      const mayRepeat = isRepeatable || (again && error.problem.status === 429);
      const seconds = (again ? error.after : undefined) ?? backOff(count);
      const isTransient = again || error instanceof UnreachableError;
      if (!isTransient || !mayRepeat || count >= policy.attempts || seconds > left)
        throw again ? error.problem : error;
      left -= seconds;
      await wait(seconds * 1000, signal);
    }
  }
}
