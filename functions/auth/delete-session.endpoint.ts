import * as z from 'zod';
import { writeCredentials } from '../../shared/data/accounts/needs.ts';
import { endSession } from '../../shared/data/accounts/session.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { forgetSession } from '../../shared/http/pipeline/session-cookie.ts';

export const endpoint = defineEndpoint({
  name: 'deleteSession',
  method: 'DELETE',
  path: '/auth/session',
  summary: 'Sign out this browser',
  description: 'Ends the session of this request, in all its tabs. A request with a token ends no session.',
  allow: 'guest',
  needs: { accounts: writeCredentials },
  input: {},
  output: { 200: z.object({}) },

  async handle(_, context) {
    const { accounts, caller } = context;
    const { user_id, session_id } = caller;
    if (session_id !== undefined) await endSession(accounts, user_id, session_id);
    return Reply.json({}, { headers: forgetSession(context) });
  },
});
