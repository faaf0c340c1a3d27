import { ServiceError } from '../../shared/core/service-error.ts';
import type { AccountType } from '../../shared/data/accounts/user.ts';
import type { Caller } from '../../shared/http/definition/endpoint-context.ts';

interface Registration {
  /** Undefined for a caller who has not signed in. */
  caller: Pick<Caller, 'account_type'> | undefined;
  registration: 'open' | 'closed';
  /** Type of the account to create. */
  account_type: AccountType;
}

/**
 * Check who may create a user. Admins create users of any type. With open registration, anyone may create a guest;
 * an admin can change the type later. Throw a 401 problem for a caller who has not signed in but might be an
 * admin, else a 403 problem.
 */
export function requireMayRegister({ caller, registration, account_type }: Registration): void {
  if (caller?.account_type === 'admin') return;
  if (registration === 'open') {
    if (account_type === 'guest') return;
    throw new ServiceError(
      'forbidden',
      'Only an admin may create an account of this type. Register with account_type guest; an admin can change the type afterwards.',
    );
  }
  if (caller !== undefined) throw new ServiceError('forbidden', 'Only an admin may create users.');
  throw new ServiceError('unauthenticated', 'Registration is closed here: only an admin may create users.');
}
