import * as z from 'zod';
import { readCredentials } from '../../shared/data/accounts/needs.ts';
import { listSessions } from '../../shared/data/accounts/session.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../shared/http/definition/pagination.ts';
import { SessionAnswer, showSession } from './credentials.ts';

export const endpoint = defineEndpoint({
  name: 'listSessions',
  method: 'GET',
  path: '/auth/sessions',
  summary: 'Browsers that you are signed in with, newest first',
  description:
    'Each with the address and the time of its last use. `current` marks the session of this request.',
  allow: 'guest',
  needs: { accounts: readCredentials },
  input: { query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: {
    200: z.array(SessionAnswer.extend({ current: z.boolean() }).meta({ id: 'ListedSession' })),
  },

  handle({ query }, { accounts, caller, now }) {
    return answerList(query, {
      fetch: (page) => listSessions(accounts, caller, now(), page),
      keyOf: ({ session_id }) => session_id,
      show: (session) => ({ ...showSession(session), current: session.session_id === caller.session_id }),
    });
  },
});
