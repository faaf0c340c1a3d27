import { ServiceError } from '../core/service-error.ts';
import { retryOnConflict } from '../data/retry-on-conflict.ts';
import type { TableWriter } from '../data/table.ts';
import { issueToken } from '../data/token.ts';
import { findCredentials, replaceHash, type User } from '../data/user.ts';
import { beginAttempt } from './back-off.ts';
import { hashing } from './hashing-queue.ts';
import { hashPassword, needsRehash, verifyPassword } from './password.ts';

/** The error of RFC 6749; the same for every reason. */
function wrongCredentials(): ServiceError {
  return new ServiceError('unauthenticated', 'The user name or the password is wrong.', {
    code: 'invalid_grant',
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

async function checkAndIssue(
  accounts: TableWriter<'accounts'>,
  { username, password, sourceIp }: Presented,
  { token_id, seconds, now }: Grant,
): Promise<SignedIn> {
  const attempt = await beginAttempt(accounts, { username, sourceIp }, now());
  let verified: string | undefined;
  const issue = async (): Promise<SignedIn> => {
    const found = await findCredentials(accounts, username);
    // In a retry only another password, or none, makes this one wrong.
    const isVerified = verified !== undefined && found?.hash === verified;
    const isRight = isVerified || (await verifyPassword(password, found?.hash));
    if (found === undefined || !isRight) throw wrongCredentials();
    const { user, hash } = found;
    if (verified === undefined) {
      await attempt.succeeded();
      if (needsRehash(hash)) {
        await replaceHash(accounts, user.user_id, { from: hash, to: await hashPassword(password) });
      }
    }
    verified = hash;
    const { bearer } = await issueToken(accounts, user, { token_id, now: now(), seconds, name: null });
    return { user, bearer };
  };
  const giveUp = () => {
    throw wrongCredentials();
  };
  return retryOnConflict(issue, { giveUp });
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
