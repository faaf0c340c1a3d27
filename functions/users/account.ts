import * as z from 'zod';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';
import { ServiceError } from '../../shared/core/service-error.ts';
import { AccountType, type User, Username } from '../../shared/data/accounts/user.ts';
import type { Caller } from '../../shared/http/definition/endpoint-context.ts';
import { Reply } from '../../shared/http/definition/reply.ts';

/** A user in a response. */
export const UserAnswer = z
  .object({
    user_id: Ulid,
    username: z.string(),
    account_type: AccountType,
    created_at: Timestamp,
  })
  .meta({ id: 'User' });

export const showUser = (user: User): Reply<User> => Reply.json(user, { version: user.version });

/** Path parameters of every operation on one user. */
export const userPath = z.strictObject({ username: Username.describe('Name of the user, such as `ada`.') });

type Known = Pick<Caller, 'account_type' | 'username'>;

/** Throw a 403 problem if a guest reads another user. Callers check this before they look up the user. */
export function requireMaySeeAccount(caller: Known, username: string): void {
  if (caller.account_type !== 'guest' || username === caller.username) return;
  throw new ServiceError('forbidden', 'A guest may see only their own account.');
}

/**
 * Throw a 403 problem if a caller who is not an admin changes another user. Callers check this before they look up
 * the user.
 */
export function requireMayChangeAccount(caller: Known, username: string): void {
  if (caller.account_type === 'admin' || username === caller.username) return;
  throw new ServiceError('forbidden', 'Only the user or an admin may change this account.');
}
