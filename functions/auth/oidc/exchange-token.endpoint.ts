import { decodeJwt, type JWTPayload } from 'jose';
import * as z from 'zod';
import { ciRunOf, claimMismatch } from '../../../shared/accounts/oidc/ci-claims.ts';
import { knownIssuer } from '../../../shared/accounts/oidc/issuer-keys.ts';
import {
  clockTolerance,
  RefusedTokenError,
  verifyToken,
} from '../../../shared/accounts/oidc/verify-token.ts';
import { Ulid } from '../../../shared/core/formats.ts';
import { badRequest } from '../../../shared/core/service-error.ts';
import { ciName } from '../../../shared/data/accounts/ci-run.ts';
import {
  type CiTrust,
  findTrusts,
  presentTrust,
  trustExists,
} from '../../../shared/data/accounts/ci-trust.ts';
import { assertionUse, useAssertion } from '../../../shared/data/accounts/issuer.ts';
import { exchangeTokens } from '../../../shared/data/accounts/needs.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import { findUser } from '../../../shared/data/accounts/user.ts';
import { withoutAudit } from '../../../shared/data/table/audited-writer.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { refusedToken, withIssuer } from './with-issuer.ts';

/** Seconds for which the tokens of runs are valid. */
const lifetimeSeconds = 60 * 60;

const type = 'urn:ietf:params:oauth:token-type';

export const endpoint = defineEndpoint({
  name: 'exchangeToken',
  method: 'POST',
  path: '/auth/oidc/exchange',
  summary: 'Exchange the identity token of a run in CI',
  description:
    'The token exchange of RFC 8693. The run must be one that a trust names (`POST /auth/trusts`). Its identity token is for this service alone: its audience is the URL of the service. It counts once. The new token is valid for an hour. Why a token is refused stands in the log of the service.',
  allow: 'anyone',
  throttle: { perSecond: 10, burst: 40 },
  needs: { accounts: exchangeTokens },
  input: {
    body: fields(
      z.strictObject({
        grant_type: z
          .literal(
            'urn:ietf:params:oauth:grant-type:token-exchange',
            'must be "urn:ietf:params:oauth:grant-type:token-exchange"',
          )
          .describe('The grant of RFC 8693, the only one supported.'),
        subject_token: z
          .string()
          .min(1, 'is blank')
          .max(16_384, 'is longer than 16384 characters')
          .describe('Identity token of the run, a JWT.'),
        subject_token_type: z
          .enum([`${type}:id_token`, `${type}:jwt`], `must be "${type}:id_token"`)
          .describe(`\`${type}:id_token\`, or \`${type}:jwt\`.`),
        trust_id: Ulid.optional().describe('Trust to use, if several admit the run.'),
      }),
    ),
  },
  output: {
    200: z.object({
      access_token: z.string(),
      issued_token_type: z.literal(`${type}:access_token`),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int(),
      token_id: Ulid,
      /** Name that takes the place of a user's, such as `ci:OWNER/NAME`. */
      user: z.string(),
    }),
  },
  problems: ['unauthenticated', 'too-many-requests', 'unavailable'],

  async handle({ body: { subject_token, trust_id } }, context) {
    const { accounts, newId, now, log, sourceIp, header } = context;
    const refused = (reason: string) =>
      refusedToken(log, 'exchange-refused', reason, 'The token is none that this service exchanges.');
    const claims = readClaims(subject_token);
    const issuer = claims?.iss;
    if (claims === undefined || issuer === undefined) throw refused('it is no JWT with an issuer');
    // Nothing is fetched from an issuer that no trust names.
    const trusts = await findTrusts(accounts, issuer, claims, trust_id);
    if (trusts.length === 0) throw refused('no trust, or not the asked one, names its issuer and repository');
    try {
      const { exp, jti } = await withIssuer(log, () => verifiedClaims(subject_token, issuer, context));
      const trust = chooseTrust(trusts, claims);
      const { user_id, credentials_version, scope, budget } = trust;
      const ci = ciRunOf(trust, claims);
      const token_id = newId();
      const by = await findUser(accounts, user_id);
      context.noteAudit({ ...(by && { by }), ci, subject: { token_id, trust_id: trust.trust_id } });
      const { bearer, token } = await issueToken(
        accounts,
        { user_id, credentials_version },
        {
          ...{ token_id, now: now(), seconds: lifetimeSeconds, name: ciName(ci) },
          ...{ scope, budget, ci, trust_id: trust.trust_id },
          use: { user_agent: header('user-agent') ?? '', address: sourceIp },
        },
        [trustExists(trust), useAssertion(issuer, jti ?? signedPart(subject_token), exp + clockTolerance)],
      );
      return Reply.json(
        {
          access_token: bearer,
          issued_token_type: `${type}:access_token` as const,
          token_type: 'Bearer' as const,
          expires_in: lifetimeSeconds,
          token_id: token.token_id,
          user: ciName(ci),
        },
        { headers: { 'Cache-Control': 'no-store' } },
      );
    } catch (error) {
      if (error instanceof RefusedTokenError) throw refused(error.message);
      if (error instanceof ConditionFailedError) throw refused(conflictText(error));
      throw error;
    }
  },
});

/** Return a token without its signature, which may have several spellings. */
const signedPart = (token: string): string => token.slice(0, token.lastIndexOf('.'));

/** Read what a token claims, without any check. */
function readClaims(token: string): JWTPayload | undefined {
  try {
    const claims = decodeJwt(token);
    return typeof claims.iss === 'string' ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** Check the token with the keys of its issuer, and keep the keys. @throws RefusedTokenError, IssuerAwayError */
async function verifiedClaims(
  token: string,
  issuer: string,
  { accounts, settings, now, ownUrl }: Parameters<typeof endpoint.handle>[1],
): Promise<{ exp: number; jti?: string | undefined }> {
  const keys = knownIssuer(issuer, {
    accounts: withoutAudit(accounts),
    admitted: settings.issuerHosts,
  });
  const verified = await verifyToken(token, { issuer, audience: ownUrl(), keys: keys.find, now: now() });
  await keys.keep();
  return verified;
}

/** Return the trust that admits a run. @throws RefusedTokenError for none, and a 400 problem for several */
function chooseTrust(trusts: readonly CiTrust[], claims: JWTPayload): CiTrust {
  const mismatches = trusts.map((trust) => claimMismatch(trust, claims));
  const admitting = trusts.filter((_, index) => mismatches[index] === undefined);
  const [first, ...others] = admitting;
  if (first === undefined) throw new RefusedTokenError(mismatches.join('; '));
  if (others.length === 0) return first;
  const ids = admitting.map((trust) => trust.trust_id);
  throw badRequest([
    { in: 'body', name: 'trust_id', message: `is required: the trusts ${ids.join(', ')} admit this run` },
  ]);
}

function conflictText(error: ConditionFailedError): string {
  if (assertionUse.failedIn(error)) return 'it was exchanged before';
  return presentTrust.failedIn(error)
    ? 'its trust was removed'
    : 'the user of its trust is gone or has other credentials';
}
