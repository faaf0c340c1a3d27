import { forgiveAttempts, isKnown, knownMark } from '../data/accounts/sign-in-attempts.ts';
import type { TableWriter } from '../data/table/table.ts';
import { networkOf } from './network-of.ts';
import { type Count, type Schedule, takeTurn } from './turn.ts';

/** One address at one user, against guessing: beyond the first hours at most 96 attempts a day. */
const pairSchedule: Schedule = { free: 5, maxSeconds: 15 * 60, memorySeconds: 24 * 60 * 60 };
/** One address at all users together, against trying one password on everybody. Many people may share it. */
const addressSchedule: Schedule = { free: 50, maxSeconds: 60, memorySeconds: 60 * 60 };
/** All addresses at one user together, against guessing from many addresses: at most 1,440 attempts a day. */
const userSchedule: Schedule = { free: 100, maxSeconds: 60, memorySeconds: 24 * 60 * 60 };

/** An attempt that was counted. */
export interface SignInAttempt {
  /** The password was right: the attempt no longer counts, nor do the earlier ones of this address at this user. */
  succeeded(): Promise<void>;
}

export interface AttemptSource {
  username: string;
  sourceIp: string;
  /** The caller has sent a valid token of this user. */
  hasToken?: boolean;
}

/**
 * Count an attempt to sign in before the password is checked, so that attempts at the same moment count too.
 *
 * Strangers cannot lock a user out: the counts of an address and of a user do not apply to a pair of user and address
 * that succeeded within the last 90 days, and the count of an address does not apply to a valid token. Every wait has
 * a limit.
 *
 * @throws ServiceError `too-many-requests` where too many attempts failed
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
