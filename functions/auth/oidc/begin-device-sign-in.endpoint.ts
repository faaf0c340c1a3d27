import * as z from 'zod';
import { Provider } from '../../../shared/accounts/oidc/provider.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { withIssuer } from './with-issuer.ts';

export const endpoint = defineEndpoint({
  name: 'beginDeviceSignIn',
  method: 'POST',
  path: '/auth/oidc/device',
  summary: 'Sign in on a machine without a browser',
  description:
    'The device authorization of RFC 8628 at the issuer of the deployment. Show the person `user_code` and `verification_uri`, and ask `POST /auth/oidc/token` every `interval` seconds.',
  allow: 'anyone',
  throttle: { perSecond: 5, burst: 20 },
  needs: {},
  input: {},
  output: {
    200: z.object({
      device_code: z.string(),
      user_code: z.string(),
      verification_uri: z.string(),
      verification_uri_complete: z.string().nullable(),
      expires_in: z.number(),
      interval: z.number(),
    }),
  },
  problems: ['not-found', 'conflict', 'too-many-requests', 'unavailable'],

  async handle(_, { settings, log }) {
    const begun = await withIssuer(log, async () => (await Provider.discover(settings)).beginDevice());
    const { device_code, user_code, verification_uri, verification_uri_complete = null } = begun;
    const { expires_in, interval = 5 } = begun;
    return Reply.json(
      { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval },
      { headers: { 'Cache-Control': 'no-store' } },
    );
  },
});
