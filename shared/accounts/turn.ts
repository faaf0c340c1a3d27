import { ServiceError } from '../core/service-error.ts';
import {
  type AttemptSource,
  type AttemptsChange,
  changeAttempts,
  type SignInAttempts,
} from '../data/accounts/sign-in-throttle.ts';
import type { TableWriter } from '../data/table/table.ts';

/** Waiting times of attempts: none for the first few, then 1 s, 2 s, 4 s … up to a limit. */
export interface Schedule {
  free: number;
  maxSeconds: number;
  /** Seconds without an attempt after which the count is forgotten. */
  memorySeconds: number;
}

/** A count of attempts, and the schedule that applies to it. */
export interface Count {
  source: AttemptSource;
  schedule: Schedule;
}

/** Maximum difference between the clocks of two hosts, in milliseconds. */
const clockSkew = 60_000;

function counted(schedule: Schedule, before: SignInAttempts | undefined, now: Date): AttemptsChange {
  const count = (before?.count ?? 0) + 1;
  const excess = count - schedule.free;
  const seconds = Math.min(schedule.maxSeconds, 2 ** Math.min(excess - 1, 30));
  // Use 0, not the present time, if there is no wait: another request may have read its clock slightly earlier.
  const open_at = excess <= 0 ? 0 : now.getTime() + seconds * 1000;
  const next = { count, open_at, ttl: Math.ceil(now.getTime() / 1000) + schedule.memorySeconds };
  return before !== undefined && excess <= 0 ? { raise: next, below: schedule.free } : { replace: next };
}

const remembered = (attempts: SignInAttempts | undefined, now: Date): SignInAttempts | undefined =>
  attempts !== undefined && attempts.ttl * 1000 > now.getTime() ? attempts : undefined;

/**
 * Return the time until which a source waits. A time beyond the longest wait was stored before the clock was set
 * back, so that wait is over.
 */
function opensAt(schedule: Schedule, attempts: SignInAttempts | undefined, now: Date): number {
  const open_at = attempts?.open_at ?? 0;
  return open_at - now.getTime() > schedule.maxSeconds * 1000 + clockSkew ? 0 : open_at;
}

/**
 * Count an attempt at every source, in one step. If the attempt has to wait, write nothing.
 * @throws ServiceError `too-many-requests`, with a detail that begins with `tooMany`, while one of the sources has
 * to wait
 */
export async function takeTurn(
  accounts: TableWriter<'accounts'>,
  counts: readonly Count[],
  now: Date,
  tooMany: string,
): Promise<void> {
  let waitSeconds = 1;
  const sources = counts.map(({ source }) => source);
  const taken = await changeAttempts(accounts, sources, (stored) => {
    const present = stored.map((attempts) => remembered(attempts, now));
    const open_at = Math.max(...counts.map(({ schedule }, index) => opensAt(schedule, present[index], now)));
    waitSeconds = Math.max(1, Math.ceil((open_at - now.getTime()) / 1000));
    if (open_at > now.getTime()) return undefined;
    return counts.map(({ schedule }, index) => counted(schedule, present[index], now));
  });
  if (taken) return;
  const detail = `${tooMany}; try again in ${waitSeconds} seconds.`;
  throw new ServiceError('too-many-requests', detail, { retryAfterSeconds: waitSeconds });
}
