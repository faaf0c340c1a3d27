import type { JobEvent } from './histories.ts';

/** Where a job's record has to stand once all events of its history were taken in, in whatever order. */
export interface Expected {
  status: string;
  batch_attempt: number | undefined;
  /** Attempts that have ended. */
  attempts: number;
  exit_code: number | null;
}

const order = ['SUBMITTED', 'PENDING', 'RUNNABLE', 'STARTING', 'RUNNING'];

/**
 * The model: an end counts whenever it comes. Batch's own success is none, for the container that succeeds writes so
 * itself, and none did. Without an end, the furthest state of the latest attempt counts.
 */
export function expectedOf(history: readonly JobEvent[], isCancelled: boolean): Expected {
  const end = history.find(({ detail: { status } }) => status === 'SUCCEEDED' || status === 'FAILED');
  if (end !== undefined) {
    const { attempts, container } = end.detail;
    const exit_code = container?.exitCode ?? null;
    const status = isCancelled ? 'CANCELLED' : 'FAILED';
    return { status, batch_attempt: undefined, attempts: attempts.length, exit_code };
  }
  const [last] = history
    .map(({ detail }) => ({
      attempt: detail.attempts.length + 1,
      rank: order.indexOf(detail.status),
      detail,
    }))
    .sort((one, other) => other.attempt - one.attempt || other.rank - one.rank);
  if (last === undefined) throw new Error('a history without events');
  const { attempt, detail } = last;
  return { status: detail.status, batch_attempt: attempt, attempts: attempt - 1, exit_code: null };
}
