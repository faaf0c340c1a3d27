import { ServiceError } from '../core/service-error.ts';
import type { TableWriter } from '../data/table.ts';
import { issueToken } from '../data/token.ts';
import { findCredentials, replaceHash, type User } from '../data/user.ts';
import { ConditionFailedError } from '../data/write-label.ts';
import { beginAttempt } from './back-off.ts';
import { hashing } from './hashing-queue.ts';
import { hashPassword, needsRehash, verifyPassword } from './password.ts';

/** 401 in the words of RFC 6749; the same for every reason. */
function wrongCredentials(): ServiceError {
  return new ServiceError('unauthenticated', 'The user name or the password is wrong.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
    members: { error: 'invalid_grant' },
  });
}

interface Presented {
  /** In lower case. */
  username: string;
  password: string;
  sourceIp: string;
}

interface Grant {
  token_id: string;
  /** Life of the token. */
  seconds: number;
  now: () => Date;
}

interface SignedIn {
  user: User;
  bearer: string;
}

/** After so many changes of one user within one request nobody waits for the next. */
const rounds = 8;

async function checkAndIssue(
  accounts: TableWriter<'accounts'>,
  { username, password, sourceIp }: Presented,
  { token_id, seconds, now }: Grant,
): Promise<SignedIn> {
  const attempt = await beginAttempt(accounts, { username, sourceIp }, now());
  let found = await findCredentials(accounts, username);
  let right = await verifyPassword(password, found?.hash);
  for (let round = 1; ; round += 1) {
    if (found === undefined || !right) throw wrongCredentials();
    const { user, hash } = found;
    if (round === 1) {
      await attempt.succeeded();
      if (needsRehash(hash)) {
        await replaceHash(accounts, user.user_id, { from: hash, to: await hashPassword(password) });
      }
    }
    try {
      const { bearer } = await issueToken(accounts, user, { token_id, now: now(), seconds, name: null });
      return { user, bearer };
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      if (round === rounds) throw wrongCredentials();
      // The user was changed or deleted since they were read; only another password, or none, makes this one wrong.
      found = await findCredentials(accounts, username);
      right = found?.hash === hash || (await verifyPassword(password, found?.hash));
    }
  }
}

/**
 * Signs in the user whose name and password these are, with a token that lives for `seconds`. Throws 401 with one
 * answer for an unknown user and a wrong password, after the same reads and one hash, 429 after too many failures, and
 * 503 while too many sign in.
 */
export const signIn = (
  accounts: TableWriter<'accounts'>,
  presented: Presented,
  grant: Grant,
): Promise<SignedIn> => hashing.admit(() => checkAndIssue(accounts, presented, grant));
