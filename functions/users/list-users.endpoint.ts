import * as z from 'zod';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import { listUsers } from '../../shared/data/accounts/user.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../shared/http/definition/pagination.ts';
import { UserAnswer } from './account.ts';

export const endpoint = defineEndpoint({
  name: 'listUsers',
  method: 'GET',
  path: '/users/',
  summary: 'All users, newest first',
  allow: 'viewer',
  needs: { accounts: readUsers },
  input: { query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(UserAnswer) },

  handle({ query }, { accounts }) {
    return answerList(query, {
      fetch: (page) => listUsers(accounts, page),
      keyOf: ({ user_id }) => user_id,
      show: ({ user_id, username, account_type, created_at }) => ({
        user_id,
        username,
        account_type,
        created_at,
      }),
    });
  },
});
