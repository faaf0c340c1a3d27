import { ServiceError } from '../../shared/core/service-error.ts';
import { writeCredentials } from '../../shared/data/accounts/needs.ts';
import { extendSession } from '../../shared/data/accounts/session.ts';
import { HttpError } from '../../shared/http/answer/http-error.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { keepSession, presentedSession } from '../../shared/http/pipeline/session-cookie.ts';
import { SessionAnswer, showSession } from './credentials.ts';

export const endpoint = defineEndpoint({
  name: 'renewSession',
  method: 'PUT',
  path: '/auth/session',
  summary: 'Keep the session of this browser',
  description:
    'Records the time and the address, and extends the session to 30 days from now. Pages call it when they open and once an hour. Other reads record nothing.',
  allow: 'guest',
  audit: { hourly: true },
  needs: { accounts: writeCredentials },
  input: {},
  output: { 200: SessionAnswer },
  problems: ['conflict'],

  async handle(_, context) {
    const { accounts, caller, now, sourceIp, header } = context;
    const { user_id, session_id } = caller;
    const presented = presentedSession(context);
    if (session_id === undefined || presented === undefined) {
      throw new ServiceError('conflict', 'The request has a token instead of a browser session.');
    }
    const use = { user_agent: header('user-agent') ?? '', address: sourceIp };
    const session = await extendSession(accounts, { user_id, session_id }, use, now());
    if (session === undefined) {
      throw new HttpError('unauthenticated', 'The session has just ended. Sign in again.', {
        'WWW-Authenticate': 'Bearer error="invalid_token"',
      });
    }
    return Reply.json(showSession(session), { headers: keepSession(context, presented.cookie) });
  },
});
