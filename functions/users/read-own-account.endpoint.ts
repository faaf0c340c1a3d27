import { notFound } from '../../shared/core/service-error.ts';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import { findUser } from '../../shared/data/accounts/user.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { showUser, UserAnswer } from './account.ts';

export const endpoint = defineEndpoint({
  name: 'readOwnAccount',
  method: 'GET',
  path: '/users/me',
  summary: 'The account of the caller',
  allow: 'guest',
  needs: { accounts: readUsers },
  input: {},
  output: { 200: UserAnswer },
  problems: ['not-found'],
  etag: true,

  async handle(_, { accounts, caller }) {
    const user = await findUser(accounts, caller.user_id);
    if (user === undefined) throw notFound('user', caller.username);
    return showUser(user);
  },
});
