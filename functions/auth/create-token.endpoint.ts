import * as z from 'zod';
import { hashingRuntime } from '../../shared/accounts/hashing-queue.ts';
import { signIn } from '../../shared/accounts/sign-in.ts';
import { writePasswords } from '../../shared/data/accounts/needs.ts';
import type { User } from '../../shared/data/accounts/user.ts';
import { signInMaxBytes } from '../../shared/http/body/body-limit.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { fields } from '../../shared/http/definition/endpoint-input.ts';
import { presentedCredentials } from './credentials.ts';
import { answerToken, GrantedToken } from './granted-token.ts';

const lifetimeSeconds = 12 * 60 * 60;

export const endpoint = defineEndpoint({
  name: 'createToken',
  method: 'POST',
  path: '/auth/token',
  summary: 'Sign in',
  description: 'The password grant of RFC 6749. The token is valid for 12 hours.',
  allow: 'anyone',
  throttle: { perSecond: 10, burst: 40 },
  needs: { accounts: writePasswords },
  runtime: hashingRuntime,
  input: {
    body: fields(
      z.strictObject({
        grant_type: z
          .literal('password', 'must be "password"')
          .describe('`password`, the only grant supported.'),
        ...presentedCredentials,
      }),
      signInMaxBytes,
    ),
  },
  output: {
    200: GrantedToken,
  },
  problems: ['unauthenticated', 'too-many-requests'],

  async handle({ body }, { accounts, now, newId, sourceIp, header, settings, noteAudit }) {
    const user_agent = header('user-agent') ?? '';
    const token_id = newId();
    const issuing = (by: User) => noteAudit({ by, subject: { token_id } });
    const grant = { token_id, seconds: lifetimeSeconds, user_agent, now, issuing };
    const { user, bearer } = await signIn(accounts, { ...body, sourceIp, oidc: settings.oidc }, grant);
    return answerToken(user, bearer, lifetimeSeconds);
  },
});
