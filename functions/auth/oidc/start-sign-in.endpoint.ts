import * as z from 'zod';
import { requireOidc } from '../../../shared/accounts/oidc/provider.ts';
import { badRequest } from '../../../shared/core/service-error.ts';
import { keepSignIns } from '../../../shared/data/accounts/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { redirect } from '../../../shared/http/definition/endpoint-output.ts';
import { beginSignIn } from './begin-sign-in.ts';
import { redirectTo, showOutcome } from './console-page.ts';

export const endpoint = defineEndpoint({
  name: 'startSignIn',
  method: 'GET',
  path: '/auth/oidc/start',
  summary: 'Sign in a browser at the issuer',
  description:
    'For browsers, which it redirects to the issuer of the deployment (`oidcIssuer`): an authorization code with PKCE. What belongs to the sign-in is sealed in a cookie of 10 minutes. A program on the same machine may open the browser with `port` and `challenge`; it gets a code for `POST /auth/oidc/token`.',
  allow: 'anyone',
  throttle: { perSecond: 10, burst: 40 },
  needs: { accounts: keepSignIns },
  writes: 'the key that seals sign-ins, at the first one',
  input: {
    query: z.strictObject({
      port: z.coerce
        .number()
        .int('must be a port from 1024 to 65535')
        .min(1024, 'must be a port from 1024 to 65535')
        .max(65_535, 'must be a port from 1024 to 65535')
        .optional()
        .describe('Port of 127.0.0.1 at which a program waits for the code.'),
      challenge: z
        .string()
        .regex(/^[\w-]{43}$/, 'must be a SHA-256 in base64url')
        .optional()
        .describe('SHA-256 of a secret of that program, in base64url.'),
      at: z.literal('own').optional().describe('Set by the redirect to the own address of the service.'),
    }),
  },
  output: { 302: redirect },
  problems: ['not-found', 'too-many-requests', 'unavailable'],

  async handle({ query: { port, challenge, at } }, context) {
    const { settings, header, ownUrl } = context;
    requireOidc(settings);
    if ((port === undefined) !== (challenge === undefined))
      throw badRequest([{ in: 'query', name: 'challenge', message: 'must be given with port' }]);
    const url = ownUrl();
    const program = port !== undefined && challenge !== undefined ? { port, challenge } : undefined;
    // The cookie must be one of the host that the issuer sends the browser back to.
    if (header('host') !== new URL(url).host && at === undefined) {
      const query = { at: 'own', ...(program && { ...program, port: String(program.port) }) };
      return redirectTo(`${url}/auth/oidc/start?${new URLSearchParams(query)}`);
    }
    // A page of others must not sign a program in: somebody else's may listen on a machine of several people.
    if (program !== undefined && /site$/.test(header('sec-fetch-site') ?? ''))
      return showOutcome(url, 'again');
    const { location, cookie } = await beginSignIn(context, program && { program });
    return redirectTo(location).with({ 'Set-Cookie': cookie });
  },
});
