import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { notFound } from '../../shared/core/service-error.ts';
import { writeCredentials } from '../../shared/data/accounts/needs.ts';
import { revokeIssued } from '../../shared/data/accounts/token.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';

export const endpoint = defineEndpoint({
  name: 'revokeToken',
  method: 'DELETE',
  path: '/auth/tokens/{token_id}',
  summary: 'Revoke one of your tokens',
  allow: 'guest',
  needs: { accounts: writeCredentials },
  input: {
    path: z.strictObject({ token_id: Ulid.describe('ID of the token, from GET /auth/tokens.') }),
  },
  output: { 200: z.object({ token_id: Ulid }) },
  problems: ['not-found'],

  async handle({ path: { token_id } }, { accounts, caller }) {
    if (!(await revokeIssued(accounts, caller.user_id, token_id))) throw notFound('token', token_id);
    return { token_id };
  },
});
