import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { errorText } from '../../core/error-text.ts';
import { IssuerAwayError } from './issuer-keys.ts';

/** A token is refused. The message says why, for the log: who sent it learns nothing. */
export class RefusedTokenError extends Error {
  override readonly name = 'RefusedTokenError';
}

/** Signatures of key pairs: the public key of an issuer must not count as the secret of an HMAC. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Seconds by which clocks may differ. */
export const clockTolerance = 60;

/** Seconds after its issue for which a token counts. GitLab issues it when the job begins. */
const maxTokenAge = 60 * 60;

interface Expected {
  issuer: string;
  /** URL of this service. A token for another one besides is refused. */
  audience: string;
  keys: JWTVerifyGetKey;
  now: Date;
}

/**
 * Return the claims of a token that an issuer has signed for this service; `exp` is when it stops to count here.
 * @throws RefusedTokenError, IssuerAwayError
 */
export async function verifyToken(
  token: string,
  { issuer, audience, keys, now }: Expected,
): Promise<JWTPayload & { exp: number }> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: [audience, `${audience}/`],
      algorithms,
      clockTolerance,
      maxTokenAge,
      requiredClaims: ['exp'],
      currentDate: now,
    });
    const { aud, exp = 0, iat = 0 } = payload;
    if (Array.isArray(aud) && aud.length > 1) throw new RefusedTokenError('it has several audiences');
    // An issuer may name any number as its end.
    return { ...payload, exp: Math.min(exp, iat + maxTokenAge) };
  } catch (error) {
    // A key or signature that cannot be read is an error of another class.
    if (error instanceof IssuerAwayError || error instanceof RefusedTokenError) throw error;
    const what = error instanceof errors.JOSEError ? error.code : 'the token cannot be read';
    throw new RefusedTokenError(`${what}: ${errorText(error)}`);
  }
}
