import type { ProblemError } from './problem-error.ts';
import { UnreachableError } from './unreachable-error.ts';

export interface RetryPolicy {
  /** Most attempts of a call. */
  attempts: number;
  /** Most seconds that a call waits between its attempts, all together. */
  seconds: number;
}

export const usualRetries: RetryPolicy = { attempts: 8, seconds: 60 };

/** Resolve after so many milliseconds. @throws the signal's reason once it is aborted */
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

/** An answer that asks to be tried again. */
export class TryAgainError extends Error {
  readonly problem: ProblemError;
  /** Seconds of `Retry-After`; undefined without one. */
  readonly after: number | undefined;

  constructor(problem: ProblemError, retryAfter: string | null) {
    super(problem.message, { cause: problem });
    this.problem = problem;
    const seconds = Number(retryAfter ?? Number.NaN);
    this.after = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
  }
}

/** Seconds before an attempt, doubled each time; spread, so that many clients do not return at once. */
const backOff = (attempt: number): number =>
  Math.min(8, 0.2 * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2);

/**
 * Run attempts of a call until one succeeds. One that was refused with 429 was not begun and is always repeated; what may
 * have happened (503, a lost connection) only where `isRepeatable`.
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
