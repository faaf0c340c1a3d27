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
 * Check the current password of a signed-in user. It counts as a sign-in attempt, so a stolen token does not allow
 * faster guessing.
 * @throws ServiceError `forbidden` for a wrong password, and `too-many-requests` after too many failures
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
