import { accountOf } from '../../../shared/accounts/oidc/person-account.ts';
import { type PersonClaims, requireOidc } from '../../../shared/accounts/oidc/provider.ts';
import type { signInPersons } from '../../../shared/data/accounts/needs.ts';
import type { User } from '../../../shared/data/accounts/user.ts';
import type { Context } from '../../../shared/http/definition/endpoint-context.ts';

/** Context of an endpoint that ends a sign-in at the issuer. */
export type SigningIn = Context<{ accounts: typeof signInPersons }, 'anyone', undefined>;

/**
 * Return the account of a person who has just signed in, with the type that their groups give. The audit record of the request
 * gets the account, and its type before and after a change.
 * @param subject ID of what the sign-in makes
 * @throws ServiceError `forbidden` if their groups give no type
 */
export const accountOfPerson = (
  claims: PersonClaims,
  subject: { session_id: string } | { token_id: string } | undefined,
  { accounts, settings, newId, now, noteAudit }: SigningIn,
): Promise<User> =>
  accountOf(claims, {
    ...{ accounts, groups: requireOidc(settings).groups, newId, now },
    entering: (by, types) =>
      noteAudit({
        ...{ by, before: types?.before && { account_type: types.before } },
        ...(subject && { subject }),
        ...(types && { after: { account_type: types.after } }),
      }),
  });
