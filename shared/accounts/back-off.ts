import { forgiveAttempts, isKnown, knownMark } from '../data/accounts/sign-in-throttle.ts';
import type { TableWriter } from '../data/table/table.ts';
import { networkOf } from './network-of.ts';
import { type Count, type Schedule, takeTurn } from './turn.ts';

/** Limit for one address and one user, against guessing: after the first hours at most 96 attempts a day. */
const pairSchedule: Schedule = { free: 5, maxSeconds: 15 * 60, memorySeconds: 24 * 60 * 60 };
/**
 * Limit for one address and all users together, against trying one password on many users. Many people may share
 * the address.
 */
const addressSchedule: Schedule = { free: 50, maxSeconds: 60, memorySeconds: 60 * 60 };
/**
 * Limit for one user from all addresses together, against guessing from many addresses: at most 1,440 attempts a
 * day.
 */
const userSchedule: Schedule = { free: 100, maxSeconds: 60, memorySeconds: 24 * 60 * 60 };

/** A counted sign-in attempt. */
export interface SignInAttempt {
  /** Call this if the password is correct. The attempt and earlier ones of this address and user stop counting. */
  succeeded(): Promise<void>;
}

export interface AttemptSource {
  username: string;
  sourceIp: string;
  /** Whether the caller has sent a valid token of this user. */
  hasToken?: boolean;
}

/**
 * Count a sign-in attempt before the password is checked, so concurrent attempts count too. Strangers cannot lock
 * a user out: if the user has succeeded from an address within the last 90 days, the counts of the address and of
 * the user do not apply to this pair. The count of an address does not apply to a valid token. Every wait has a
 * limit.
 * @throws ServiceError `too-many-requests` after too many failed attempts
 */
export async function beginAttempt(
  accounts: TableWriter<'accounts'>,
  { username, sourceIp, hasToken = false }: AttemptSource,
  now: Date,
): Promise<SignInAttempt> {
  const address = networkOf(sourceIp);
  const pair = { address, username };
  const known = await isKnown(accounts, pair, now);
  const strangers: Count[] = [
    ...(known ? [] : [{ source: { username }, schedule: userSchedule }]),
    ...(known || hasToken ? [] : [{ source: { address }, schedule: addressSchedule }]),
  ];
  const counts = [{ source: pair, schedule: pairSchedule }, ...strangers];
  await takeTurn(accounts, counts, now, 'Too many failed sign-ins');
  return {
    async succeeded() {
      const lowered = strangers.map(({ source }) => source);
      await forgiveAttempts(accounts, {
        forgotten: pair,
        lowered,
        also: await knownMark(accounts, pair, now),
      });
    },
  };
}
