import * as z from 'zod';
import { writeAccounts } from '../../shared/data/needs.ts';
import { endAllSessions } from '../../shared/data/session.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { Reply } from '../../shared/http/reply.ts';
import { forgetSession } from '../../shared/http/session-cookie.ts';

export const endpoint = defineEndpoint({
  name: 'deleteSessions',
  method: 'DELETE',
  path: '/auth/sessions',
  summary: 'Sign out everywhere: all your browsers',
  description: 'This one too. Tokens stay; a change of password ends them as well.',
  allow: 'guest',
  needs: { accounts: writeAccounts },
  input: {},
  output: { 200: z.object({ ended: z.number().int().describe('How many sessions there were.') }) },

  async handle(_, context) {
    const ended = await endAllSessions(context.accounts, context.caller.user_id);
    return Reply.json({ ended }, { headers: forgetSession(context) });
  },
});

export const handler = lambda(endpoint);
