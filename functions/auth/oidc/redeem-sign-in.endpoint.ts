import { createHash } from 'node:crypto';
import * as z from 'zod';
import { programCode } from '../../../shared/accounts/oidc/pending-sign-in.ts';
import { signInSeconds } from '../../../shared/accounts/oidc/person-account.ts';
import { type DeviceState, Provider, requireOidc } from '../../../shared/accounts/oidc/provider.ts';
import { RefusedTokenError } from '../../../shared/accounts/oidc/verify-token.ts';
import { badRequest, ServiceError } from '../../../shared/core/service-error.ts';
import { signInKey } from '../../../shared/data/accounts/identity.ts';
import { signInPersons } from '../../../shared/data/accounts/needs.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import { findUser, type User } from '../../../shared/data/accounts/user.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { answerToken, GrantedToken } from '../granted-token.ts';
import { accountOfPerson, type SigningIn } from './account-of-person.ts';
import { refusedToken, withIssuer } from './with-issuer.ts';

const device = 'urn:ietf:params:oauth:grant-type:device_code';
const grants = ['authorization_code', device] as const;

const sentences: Readonly<Record<DeviceState, string>> = {
  authorization_pending: 'Nobody has confirmed the code yet.',
  slow_down: 'Ask less often: wait five seconds longer.',
  access_denied: 'The person has refused.',
  expired_token: 'The code has expired. Begin again.',
};

const secret = (what: string) => z.string().min(1, 'is blank').max(4096).optional().describe(what);

export const endpoint = defineEndpoint({
  name: 'redeemSignIn',
  method: 'POST',
  path: '/auth/oidc/token',
  summary: 'Get the token of a sign-in at the issuer',
  description:
    'For programs. Returns a token of 12 hours for a confirmed device code (RFC 8628), or for the code that the browser has brought to the port of `GET /auth/oidc/start`. Until the person has confirmed a device code: 400 with `error` `authorization_pending`, `slow_down`, `access_denied` or `expired_token`.',
  allow: 'anyone',
  throttle: { perSecond: 10, burst: 40 },
  needs: { accounts: signInPersons },
  input: {
    body: fields(
      z.strictObject({
        grant_type: z
          .enum(grants, `must be one of ${grants.join(', ')}`)
          .describe('`authorization_code` of a browser, or the grant of a device code (RFC 8628).'),
        device_code: secret('Of `POST /auth/oidc/device`.'),
        code: secret('What the browser has brought to the port.'),
        code_verifier: secret('The secret whose SHA-256 was the `challenge`.'),
      }),
    ),
  },
  output: {
    200: GrantedToken,
  },
  problems: ['unauthenticated', 'forbidden', 'not-found', 'conflict', 'too-many-requests', 'unavailable'],

  async handle({ body: { grant_type, device_code, code, code_verifier } }, context) {
    const { accounts, settings, now, log, header, sourceIp } = context;
    requireOidc(settings);
    const needed = grant_type === device ? { device_code } : { code, code_verifier };
    const missing = Object.entries(needed).filter(([, value]) => value === undefined);
    if (missing.length > 0)
      throw badRequest(missing.map(([name]) => ({ in: 'body', name, message: 'is required' })));
    try {
      const { user, token_id } =
        device_code === undefined
          ? await ofBrowser(code ?? '', code_verifier ?? '', context)
          : await ofDevice(device_code, context);
      const { bearer } = await issueToken(accounts, user, {
        ...{ token_id, now: now(), seconds: signInSeconds, name: null },
        use: { user_agent: header('user-agent') ?? '', address: sourceIp },
      });
      return answerToken(user, bearer, signInSeconds);
    } catch (error) {
      const isUsed = error instanceof ConditionFailedError;
      if (!isUsed && !(error instanceof RefusedTokenError)) throw error;
      const reason = isUsed ? 'its code was used, or its user has other credentials' : error.message;
      throw refusedToken(log, 'sign-in-refused', reason, 'This sign-in does not count. Begin again.');
    }
  },
});

interface Redeemed {
  user: User;
  token_id: string;
}

/** Return the person who has signed in in a browser. The id of the token lets each code count once. */
async function ofBrowser(
  code: string,
  verifier: string,
  { accounts, now, noteAudit }: SigningIn,
): Promise<Redeemed> {
  const opened = programCode.open(await signInKey.obtain(accounts, now()), code, now());
  if (opened === undefined) throw new RefusedTokenError('the code is none, or too old');
  const { user_id, credentials_version, challenge, token_id } = opened;
  if (createHash('sha256').update(verifier).digest('base64url') !== challenge)
    throw new RefusedTokenError('the code is of another program');
  const user = await findUser(accounts, user_id);
  if (user?.credentials_version !== credentials_version)
    throw new RefusedTokenError('the user is gone or has other credentials');
  noteAudit({ by: user, subject: { token_id } });
  return { user, token_id };
}

/** Return the person who has confirmed a device code. @throws ServiceError `bad-request` if nobody has yet */
async function ofDevice(device_code: string, context: SigningIn): Promise<Redeemed> {
  const { accounts, settings, now, newId, log } = context;
  const claims = await withIssuer(log, async () => {
    const provider = await Provider.discover(settings);
    return provider.finishDevice(device_code, { accounts, now });
  });
  if (typeof claims === 'string') throw new ServiceError('bad-request', sentences[claims], { code: claims });
  const token_id = newId();
  return { user: await accountOfPerson(claims, { token_id }, context), token_id };
}
