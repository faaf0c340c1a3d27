import {
  type AttemptsChange,
  changeAttempts,
  forgiveAttempts,
  type SignInAttempts,
} from '../data/sign-in-attempts.ts';
import type { TableWriter } from '../data/table.ts';
import { Problem } from '../endpoint/problem.ts';
import { networkOf } from './network-of.ts';

/** How long failed sign-ins must wait: the first few not at all, then 1 s, 2 s, 4 s … up to a limit. */
interface Schedule {
  free: number;
  mostSeconds: number;
  /** After so long without an attempt all is forgotten. */
  memorySeconds: number;
}

/** One address at one user, against guessing: beyond the first hours at most 96 tries a day. */
const pairSchedule: Schedule = { free: 5, mostSeconds: 15 * 60, memorySeconds: 24 * 60 * 60 };
/** One address at all users together, against trying one password on everybody. Many people may share it. */
const addressSchedule: Schedule = { free: 50, mostSeconds: 60, memorySeconds: 60 * 60 };
const schedules: readonly Schedule[] = [pairSchedule, addressSchedule];
/** Milliseconds by which the clocks of two hosts may differ. */
const clockSkew = 60_000;

function counted(schedule: Schedule, before: SignInAttempts | undefined, now: Date): AttemptsChange {
  const count = (before?.count ?? 0) + 1;
  const excess = count - schedule.free;
  const seconds = Math.min(schedule.mostSeconds, 2 ** Math.min(excess - 1, 30));
  // Nothing to wait for is 0, not now: another request at this moment may have looked at its clock a little earlier.
  const open_at = excess <= 0 ? 0 : now.getTime() + seconds * 1000;
  const next = { count, open_at, ttl: Math.ceil(now.getTime() / 1000) + schedule.memorySeconds };
  return before !== undefined && excess <= 0 ? { raise: next, below: schedule.free } : { replace: next };
}

const remembered = (attempts: SignInAttempts | undefined, now: Date): SignInAttempts | undefined =>
  attempts !== undefined && attempts.ttl * 1000 > now.getTime() ? attempts : undefined;

/** Until when a source waits. Further off than any wait is a time from before the clock was set back: it is over. */
function opensAt(schedule: Schedule, attempts: SignInAttempts | undefined, now: Date): number {
  const open_at = attempts?.open_at ?? 0;
  return open_at - now.getTime() > schedule.mostSeconds * 1000 + clockSkew ? 0 : open_at;
}

function tooMany(seconds: number): Problem {
  return new Problem(
    'too-many-requests',
    `Too many failed sign-ins; the next one is taken in ${seconds} seconds.`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}

/** An attempt that was counted. */
export interface Attempt {
  /** The password was right: the attempt no longer counts, nor do the earlier ones at this user. */
  succeeded(): Promise<void>;
}

/**
 * Counts an attempt to sign in before the password is looked at, so that attempts at the same moment count too.
 * Throws 429 with `Retry-After` where too many failed. What counts is the address, never the user alone: nobody can
 * lock out the owner of an account from elsewhere, and the wait has a limit.
 */
export async function beginAttempt(
  accounts: TableWriter<'accounts'>,
  source: { username: string; sourceIp: string },
  now: Date,
): Promise<Attempt> {
  const address = networkOf(source.sourceIp);
  const sources = [{ address, username: source.username }, { address }] as const;
  let waitSeconds = 1;
  const taken = await changeAttempts(accounts, sources, (stored) => {
    const present = stored.map((attempts) => remembered(attempts, now));
    const open_at = Math.max(...schedules.map((schedule, index) => opensAt(schedule, present[index], now)));
    waitSeconds = Math.max(1, Math.ceil((open_at - now.getTime()) / 1000));
    if (open_at > now.getTime()) return undefined;
    return schedules.map((schedule, index) => counted(schedule, present[index], now));
  });
  if (!taken) throw tooMany(waitSeconds);
  return {
    async succeeded() {
      const [forgotten, lowered] = sources;
      await forgiveAttempts(accounts, { forgotten, lowered });
    },
  };
}
