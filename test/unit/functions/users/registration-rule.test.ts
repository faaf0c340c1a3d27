import { describe, expect, test } from 'vitest';
import { requireMayRegister } from '../../../../functions/users/registration-rule.ts';
import { ServiceError } from '../../../../shared/core/service-error.ts';
import { type AccountType, accountTypes } from '../../../../shared/data/accounts/user.ts';
import { problemKinds } from '../../../../shared/http/definition/problem.ts';

function statusOf(
  caller: AccountType | undefined,
  registration: 'open' | 'closed',
  account_type: AccountType,
) {
  try {
    requireMayRegister({
      caller: caller === undefined ? undefined : { account_type: caller },
      registration,
      account_type,
    });
    return 'allowed';
  } catch (error) {
    return error instanceof ServiceError ? problemKinds[error.kind].status : error;
  }
}

const others = accountTypes.filter((type) => type !== 'guest');

describe('who may register whom', () => {
  test.each(accountTypes)('an admin creates a %s, open or closed', (type) => {
    expect(statusOf('admin', 'closed', type)).toBe('allowed');
    expect(statusOf('admin', 'open', type)).toBe('allowed');
  });

  test.each(['guest', 'viewer', 'developer'] as const)('a %s creates guests where it is open', (caller) => {
    expect(statusOf(caller, 'open', 'guest')).toBe('allowed');
    expect(others.map((type) => statusOf(caller, 'open', type))).toEqual([403, 403, 403]);
    expect(accountTypes.map((type) => statusOf(caller, 'closed', type))).toEqual([403, 403, 403, 403]);
  });

  test('who has not signed in creates guests where it is open', () => {
    expect(statusOf(undefined, 'open', 'guest')).toBe('allowed');
    expect(others.map((type) => statusOf(undefined, 'open', type))).toEqual([403, 403, 403]);
    expect(accountTypes.map((type) => statusOf(undefined, 'closed', type))).toEqual([401, 401, 401, 401]);
  });
});
