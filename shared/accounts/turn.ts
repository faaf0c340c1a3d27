import { ServiceError } from '../core/service-error.ts';
import {
  type AttemptSource,
  type AttemptsChange,
  changeAttempts,
  type SignInAttempts,
} from '../data/accounts/sign-in-attempts.ts';
import type { TableWriter } from '../data/table/table.ts';

/** How long attempts must wait: the first few not at all, then 1 s, 2 s, 4 s … up to a limit. */
export interface Schedule {
  free: number;
  maxSeconds: number;
  /** The count of attempts is forgotten after this many seconds without an attempt. */
  memorySeconds: number;
}

/** A count of attempts and the schedule that it must keep to. */
export interface Count {
  source: AttemptSource;
  schedule: Schedule;
}

/** Milliseconds by which the clocks of two hosts may differ. */
const clockSkew = 60_000;

function counted(schedule: Schedule, before: SignInAttempts | undefined, now: Date): AttemptsChange {
  const count = (before?.count ?? 0) + 1;
  const excess = count - schedule.free;
  const seconds = Math.min(schedule.maxSeconds, 2 ** Math.min(excess - 1, 30));
  // Nothing to wait for is 0, not now: another request at this moment may have looked at its clock a little earlier.
  const open_at = excess <= 0 ? 0 : now.getTime() + seconds * 1000;
  const next = { count, open_at, ttl: Math.ceil(now.getTime() / 1000) + schedule.memorySeconds };
  return before !== undefined && excess <= 0 ? { raise: next, below: schedule.free } : { replace: next };
}

const remembered = (attempts: SignInAttempts | undefined, now: Date): SignInAttempts | undefined =>
  attempts !== undefined && attempts.ttl * 1000 > now.getTime() ? attempts : undefined;

/**
 * The time until which a source waits. A time further off than any wait dates from before the clock was set back.
 * Such a wait is over.
 */
function opensAt(schedule: Schedule, attempts: SignInAttempts | undefined, now: Date): number {
  const open_at = attempts?.open_at ?? 0;
  return open_at - now.getTime() > schedule.maxSeconds * 1000 + clockSkew ? 0 : open_at;
}

/**
 * Count an attempt at every source, in one step. An attempt that has to wait writes nothing.
 *
 * @throws ServiceError `too-many-requests`, whose detail begins with `tooMany`, where one of the schedules is not open
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
  const detail = `${tooMany}; the next one is taken in ${waitSeconds} seconds.`;
  throw new ServiceError('too-many-requests', detail, { retryAfterSeconds: waitSeconds });
}
