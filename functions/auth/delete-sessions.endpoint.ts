import * as z from 'zod';
import { writeCredentials } from '../../shared/data/accounts/needs.ts';
import { endAllSessions } from '../../shared/data/accounts/session.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { forgetSession } from '../../shared/http/pipeline/session-cookie.ts';

export const endpoint = defineEndpoint({
  name: 'deleteSessions',
  method: 'DELETE',
  path: '/auth/sessions',
  summary: 'Sign out everywhere: all your browsers',
  description:
    'Ends the session of this request too. Tokens stay valid. To revoke them too, change the password.',
  allow: 'guest',
  needs: { accounts: writeCredentials },
  input: {},
  output: { 200: z.object({ ended: z.number().int().describe('Number of sessions that were ended.') }) },

  async handle(_, context) {
    const ended = await endAllSessions(context.accounts, context.caller.user_id);
    return Reply.json({ ended }, { headers: forgetSession(context) });
  },
});
