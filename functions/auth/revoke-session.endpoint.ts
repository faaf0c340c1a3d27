import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { notFound } from '../../shared/core/service-error.ts';
import { writeCredentials } from '../../shared/data/accounts/needs.ts';
import { endSession } from '../../shared/data/accounts/session.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';

export const endpoint = defineEndpoint({
  name: 'revokeSession',
  method: 'DELETE',
  path: '/auth/sessions/{session_id}',
  summary: 'Sign out one of your browsers',
  allow: 'guest',
  needs: { accounts: writeCredentials },
  input: {
    path: z.strictObject({ session_id: Ulid.describe('ID of the session, from GET /auth/sessions.') }),
  },
  output: { 200: z.object({ session_id: Ulid }) },
  problems: ['not-found'],

  async handle({ path: { session_id } }, { accounts, caller }) {
    if (!(await endSession(accounts, caller.user_id, session_id))) throw notFound('session', session_id);
    return { session_id };
  },
});
