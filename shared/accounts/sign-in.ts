import { ServiceError } from '../core/service-error.ts';
import type { Settings } from '../core/settings.ts';
import { issueToken } from '../data/accounts/token.ts';
import { findCredentials, replaceHash, type User } from '../data/accounts/user.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableWriter } from '../data/table/table.ts';
import { beginAttempt } from './back-off.ts';
import { isFirstAdmin } from './first-admin.ts';
import { hashing } from './hashing-queue.ts';
import { hashPassword, needsRehash, verifyPassword } from './password.ts';

/** Return the error of RFC 6749. It is the same for every reason. */
function wrongCredentials(): ServiceError {
  return new ServiceError('unauthenticated', 'The user name or the password is wrong.', {
    code: 'invalid_grant',
  });
}

/** Only somebody with the right password reads it. */
const wrongPlace = (): ServiceError =>
  new ServiceError(
    'unauthenticated',
    'Sign in at your organization: passwords are for the first admin alone.',
    {
      code: 'invalid_grant',
    },
  );

interface Presented {
  /** In lower case. */
  username: string;
  password: string;
  sourceIp: string;
  /** Issuer at which people sign in. */
  oidc?: Settings['oidc'];
}

interface Grant {
  token_id: string;
  /** Lifetime of the token in seconds. */
  seconds: number;
  /** Program that signs in; blank if it does not say, which is the default. */
  user_agent?: string;
  now: () => Date;
  /** Called before the token is issued. */
  issuing?: (user: User) => void;
}

interface SignedIn<T> {
  user: User;
  issued: T;
}

/**
 * Issue something, such as a token, to a user with the right password.
 * @throws ConditionFailedError if the credentials have changed
 */
type Issue<T> = (user: User) => Promise<T>;

async function checkAndIssue<T>(
  accounts: TableWriter<'accounts'>,
  { username, password, sourceIp, oidc }: Presented,
  now: () => Date,
  issueTo: Issue<T>,
): Promise<SignedIn<T>> {
  const attempt = await beginAttempt(accounts, { username, sourceIp }, now());
  let verified: string | undefined;
  const issue = async (): Promise<SignedIn<T>> => {
    const credentials = await findCredentials(accounts, username);
    // In a retry, only a changed or removed password makes this one wrong.
    const isVerified = verified !== undefined && credentials?.hash === verified;
    const isRight = isVerified || (await verifyPassword(password, credentials?.hash));
    if (credentials === undefined || !isRight) throw wrongCredentials();
    const { user, hash, isEarlier } = credentials;
    if (oidc?.isOnly === true && !(await isFirstAdmin(accounts, user))) throw wrongPlace();
    if (verified === undefined) {
      await attempt.succeeded();
      if (needsRehash(hash) || isEarlier) {
        const to = needsRehash(hash) ? await hashPassword(password) : hash;
        await replaceHash(accounts, user.user_id, { from: hash, to, isEarlier }, now());
      }
    }
    verified = hash;
    return { user, issued: await issueTo(user) };
  };
  const giveUp = () => {
    throw wrongCredentials();
  };
  return retryOnConflict(issue, { giveUp });
}

/**
 * Check the name and password of a user, and issue something to them. Throw the same 401 for an unknown user and a
 * wrong password, after the same reads and one hash; 429 after too many failures; and 503 while too many users
 * sign in.
 */
export const signInFor = <T>(
  accounts: TableWriter<'accounts'>,
  presented: Presented,
  now: () => Date,
  issue: Issue<T>,
): Promise<SignedIn<T>> => hashing.admit(() => checkAndIssue(accounts, presented, now, issue));

/**
 * Sign in the user with this name and password. Issue a token that is valid for `seconds`.
 * @throws as {@link signInFor}
 */
export async function signIn(
  accounts: TableWriter<'accounts'>,
  presented: Presented,
  { token_id, seconds, user_agent = '', now, issuing }: Grant,
): Promise<{ user: User; bearer: string }> {
  const { user, issued } = await signInFor(accounts, presented, now, (owner) => {
    issuing?.(owner);
    return issueToken(accounts, owner, {
      token_id,
      now: now(),
      seconds,
      name: null,
      use: { user_agent, address: presented.sourceIp },
    });
  });
  return { user, bearer: issued.bearer };
}
