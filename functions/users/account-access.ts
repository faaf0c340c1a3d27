import { ServiceError } from '../../shared/core/service-error.ts';
import type { Caller } from '../../shared/http/definition/endpoint-context.ts';

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
