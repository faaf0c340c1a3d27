import { ServiceError } from '../core/service-error.ts';
import { readAccounts } from '../data/needs.ts';
import { authenticateToken } from '../data/token.ts';
import { accountTypes } from '../data/user.ts';
import type { Before } from './exchange.ts';
import { HttpError } from './http-error.ts';
import { headerOf } from './proxy-event.ts';

const bearer = /^bearer +(\S+) *$/i;

function unauthenticated(detail: string, error?: string): HttpError {
  const challenge = error === undefined ? 'Bearer' : `Bearer error="${error}"`;
  return new HttpError('unauthenticated', detail, { 'WWW-Authenticate': challenge });
}

/**
 * Finds out who calls. A token that is given must be good, unless the endpoint is the same for everybody: a client that
 * sends its old token with every request can still sign in.
 */
export const authenticate: Before = async (exchange) => {
  const { endpoint, event, platform } = exchange;
  if (endpoint.allow === 'anyone' && endpoint.permit === undefined) return;
  const authorization = headerOf(event, 'authorization');
  if (authorization === undefined) {
    if (endpoint.allow === 'anyone') return;
    throw unauthenticated(
      'Sign in with POST /auth/token and send the token as "Authorization: Bearer <token>".',
    );
  }
  const presented = bearer.exec(authorization)?.[1];
  const { sourceIp } = event.requestContext.identity;
  const identity =
    presented === undefined && (await endpoint.identify?.(authorization, { platform, sourceIp }));
  if (presented === undefined && !identity) {
    throw unauthenticated('The Authorization header must be "Bearer <token>".', 'invalid_request');
  }
  const found =
    presented === undefined
      ? identity || undefined
      : await authenticateToken(readAccounts.open(platform), presented, new Date());
  if (found === undefined) {
    throw unauthenticated(
      'The token is unknown, has expired or was revoked. Sign in again.',
      'invalid_token',
    );
  }
  const { user_id, username, account_type, credentials_version } = found.user;
  const { token_hash } = found;
  exchange.caller = { user_id, username, account_type, credentials_version, token_hash };
};

/** Refuses callers whose account type has too few rights. */
export const authorize: Before = ({ endpoint: { allow }, caller }) => {
  if (allow === 'anyone' || caller === undefined) return;
  if (accountTypes.indexOf(caller.account_type) >= accountTypes.indexOf(allow)) return;
  throw new ServiceError(
    'forbidden',
    `This needs an account of type ${allow}; yours is ${caller.account_type}.`,
  );
};
