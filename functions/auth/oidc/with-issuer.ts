import { IssuerAwayError } from '../../../shared/accounts/oidc/issuer-keys.ts';
import type { Logger } from '../../../shared/core/log.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { HttpError } from '../../../shared/http/answer/http-error.ts';

/** Do something with an issuer. Why it does not answer stands in the log. @throws ServiceError `unavailable` */
export async function withIssuer<T>(log: Logger, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof IssuerAwayError)) throw error;
    log.warn('issuer-away', { reason: error.message });
    throw new ServiceError('unavailable', 'The issuer does not answer. Try again shortly.', {
      retryAfterSeconds: 30,
    });
  }
}

/** Return the error of a token that is refused. Why stands in the log: who sent it learns nothing. */
export function refusedToken(log: Logger, event: string, reason: string, message: string): HttpError {
  log.warn(event, { reason: reason.slice(0, 500) });
  return new HttpError('unauthenticated', message, { 'WWW-Authenticate': 'Bearer error="invalid_token"' });
}
