import * as z from 'zod';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';
import { ServiceError } from '../../shared/core/service-error.ts';
import { AccountType, type User, Username } from '../../shared/data/accounts/user.ts';
import type { Caller } from '../../shared/http/definition/endpoint-context.ts';
import { Reply } from '../../shared/http/definition/reply.ts';

/** A user as every operation returns them. */
export const UserAnswer = z
  .object({
    user_id: Ulid,
    username: z.string(),
    account_type: AccountType,
    created_at: Timestamp,
  })
  .meta({ id: 'User' });

export const showUser = (user: User): Reply<User> => Reply.json(user, { version: user.version });

/** Path parameters of everything about one user by name. */
export const userPath = z.strictObject({ username: Username.describe('Name of the user, such as `ada`.') });

type Known = Pick<Caller, 'account_type' | 'username'>;

/** 403 for a guest who reads other users; checked before the user is looked up. */
export function requireMaySeeAccount(caller: Known, username: string): void {
  if (caller.account_type !== 'guest' || username === caller.username) return;
  throw new ServiceError('forbidden', 'A guest may see only their own account.');
}

/** 403 for changes of other users without being an admin; checked before the user is looked up. */
export function requireMayChangeAccount(caller: Known, username: string): void {
  if (caller.account_type === 'admin' || username === caller.username) return;
  throw new ServiceError('forbidden', 'Only a user themselves or an admin may change this account.');
}
