import * as z from 'zod';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import { findUserId, Username } from '../../shared/data/accounts/user.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { requireMayRegister } from './registration-rule.ts';

export const endpoint = defineEndpoint({
  name: 'checkUsername',
  method: 'GET',
  path: '/users/check/{username}',
  summary: 'Whether a user name is available',
  description:
    'For those who may create a user: admins and, with open registration, anyone. A name that is not allowed is reported as not available, with the `reason`.',
  allow: 'anyone',
  throttle: { perSecond: 10, burst: 20 },
  needs: { accounts: readUsers },
  input: { path: z.strictObject({ username: z.string().describe('The name to check.') }) },
  output: {
    200: z.object({
      /** The name in its canonical form for comparison; unchanged if it is not a valid name. */
      username: z.string(),
      available: z.boolean(),
      reason: z.string().nullable(),
    }),
  },
  problems: ['forbidden'],

  permit(_, { caller, settings: { registration } }) {
    requireMayRegister({ caller, registration, account_type: 'guest' });
  },

  async handle({ path: { username: asked } }, { accounts }) {
    const parsed = Username.safeParse(asked);
    if (!parsed.success) {
      return { username: asked, available: false, reason: parsed.error.issues[0]?.message ?? 'is no name' };
    }
    const username = parsed.data;
    const available = (await findUserId(accounts, username)) === undefined;
    return { username, available, reason: available ? null : 'is taken' };
  },
});
