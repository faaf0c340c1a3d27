import * as z from 'zod';
import { writeAccounts } from '../../shared/data/needs.ts';
import { revokeToken } from '../../shared/data/token.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';

export const endpoint = defineEndpoint({
  name: 'deleteToken',
  method: 'DELETE',
  path: '/auth/token',
  summary: 'Sign out: ends the token that was sent',
  allow: 'guest',
  needs: { accounts: writeAccounts },
  input: {},
  output: { 200: z.object({}) },

  async handle(_, { accounts, caller }) {
    await revokeToken(accounts, caller.user_id, caller.token_hash);
    return {};
  },
});

export const handler = lambda(endpoint);
