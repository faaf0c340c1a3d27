import { notFound } from '../../shared/core/service-error.ts';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import { findUserByName } from '../../shared/data/accounts/user.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { requireMaySeeAccount, showUser, UserAnswer, userPath } from './account.ts';

export const endpoint = defineEndpoint({
  name: 'readUser',
  method: 'GET',
  path: '/users/{username}',
  summary: 'A user',
  description: 'A guest sees only their own account.',
  allow: 'guest',
  needs: { accounts: readUsers },
  input: { path: userPath },
  output: { 200: UserAnswer },
  problems: ['forbidden', 'not-found'],
  etag: true,

  async handle({ path: { username } }, { accounts, caller }) {
    requireMaySeeAccount(caller, username);
    const user = await findUserByName(accounts, username);
    if (user === undefined) throw notFound('user', username);
    return showUser(user);
  },
});
