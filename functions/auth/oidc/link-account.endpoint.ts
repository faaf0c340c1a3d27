import * as z from 'zod';
import { requireOidc } from '../../../shared/accounts/oidc/provider.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { keepSignIns } from '../../../shared/data/accounts/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { beginSignIn } from './begin-sign-in.ts';

export const endpoint = defineEndpoint({
  name: 'linkAccount',
  method: 'POST',
  path: '/auth/oidc/link',
  summary: 'Link your account to your account at the issuer',
  description:
    'For pages, in a browser session: a token cannot link an account. Send the browser to `location`. After the sign-in there, that person has this account. Nothing else links an account: not its name, and not an email address. The groups decide its type from the next sign-in on.',
  allow: 'guest',
  repeatable: true,
  audit: { never: 'The end of the sign-in at the issuer links the account, and has the record.' },
  needs: { accounts: keepSignIns },
  input: {},
  output: { 200: z.object({ location: z.string() }) },
  problems: ['not-found', 'conflict', 'unavailable'],

  async handle(_, context) {
    requireOidc(context.settings);
    const { user_id, credentials_version, session_id } = context.caller;
    // A link outlives the token that made it, and a new password.
    if (session_id === undefined)
      throw new ServiceError('conflict', 'The request has a token instead of a browser session.');
    const { location, cookie } = await beginSignIn(context, { link: { user_id, credentials_version } });
    return Reply.json({ location }, { headers: { 'Cache-Control': 'no-store', 'Set-Cookie': cookie } });
  },
});
