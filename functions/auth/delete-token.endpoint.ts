import * as z from 'zod';
import { writeCredentials } from '../../shared/data/accounts/needs.ts';
import { endSession } from '../../shared/data/accounts/session.ts';
import { revokeToken } from '../../shared/data/accounts/token.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';

export const endpoint = defineEndpoint({
  name: 'deleteToken',
  method: 'DELETE',
  path: '/auth/token',
  summary: 'Sign out: ends the token that was sent',
  allow: 'guest',
  needs: { accounts: writeCredentials },
  input: {},
  output: { 200: z.object({}) },

  async handle(_, { accounts, caller }) {
    const { user_id, token_hash, session_id } = caller;
    // Sign out whatever the body holds.
    if (session_id !== undefined) await endSession(accounts, user_id, session_id);
    else await revokeToken(accounts, user_id, token_hash);
    return {};
  },
});
