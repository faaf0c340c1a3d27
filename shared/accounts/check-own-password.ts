import { ServiceError } from '../core/service-error.ts';
import type { TableWriter } from '../data/table/table.ts';
import { beginAttempt } from './back-off.ts';
import { verifyPassword } from './password.ts';

interface Presented {
  username: string;
  /** Stored hash of the user's password. */
  hash: string;
  password: string;
  sourceIp: string;
}

/**
 * Makes sure that a password is the present one of a user who is signed in. Counts as an attempt to sign in, so that a
 * stolen token is no way to guess faster.
 *
 * @throws ServiceError `forbidden` where it is wrong and `too-many-requests` after too many failures
 */
export async function checkOwnPassword(
  accounts: TableWriter<'accounts'>,
  { username, hash, password, sourceIp }: Presented,
  now: () => Date,
): Promise<void> {
  const attempt = await beginAttempt(accounts, { username, sourceIp, hasToken: true }, now());
  if (!(await verifyPassword(password, hash))) {
    throw new ServiceError('forbidden', 'The current password is wrong.');
  }
  await attempt.succeeded();
}
