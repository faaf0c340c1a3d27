import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { notFound } from '../../shared/core/service-error.ts';
import { changeUser, setAccountType } from '../../shared/data/accounts/change-user.ts';
import { writeUsers } from '../../shared/data/accounts/needs.ts';
import { AccountType, findUser } from '../../shared/data/accounts/user.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { showUser, UserAnswer } from './account.ts';

export const endpoint = defineEndpoint({
  name: 'changeUserType',
  method: 'POST',
  path: '/users/{user_id}/type',
  summary: "Change a user's account type",
  description:
    'Revokes all tokens of the user, who must sign in again. The type of the last admin cannot be changed.',
  allow: 'admin',
  audit: { fields: ['account_type'] },
  needs: { accounts: writeUsers },
  input: {
    path: z.strictObject({ user_id: Ulid.describe('ID of the user.') }),
    queryOrBody: z.strictObject({ account_type: AccountType.describe('Their new account type.') }),
  },
  repeatable: true,
  output: { 200: UserAnswer },
  problems: ['not-found', 'conflict'],
  etag: true,

  async handle({ path: { user_id }, queryOrBody: { account_type } }, { accounts, noteAudit }) {
    const user = await findUser(accounts, user_id);
    if (user === undefined) throw notFound('user', user_id);
    const changed = await changeUser(accounts, user, async (present) => {
      noteAudit({ before: present, subject: { username: present.username } });
      return present.account_type === account_type
        ? present
        : setAccountType(accounts, present, account_type);
    });
    return showUser(changed);
  },
});
