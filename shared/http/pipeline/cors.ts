import { ServiceError } from '../../core/service-error.ts';
import type { Middleware } from '../definition/middleware.ts';
import { type Event, headerOf, type Result } from './proxy-event.ts';

/** Response headers that scripts may read in addition to those that browsers always expose. API Gateway renames one. */
const exposed = [
  'Allow',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'Retry-After',
  'WWW-Authenticate',
  'X-Amzn-Remapped-WWW-Authenticate',
  'X-Request-Id',
  'X-Unreadable-Records',
].join(', ');

/**
 * Let pages of the listed origins read a response. `origin` is the request's header. Credentials of browsers
 * (cookies) are never allowed: other origins sign in with a bearer token.
 */
export function withCors(result: Result, origins: readonly string[], origin: string | undefined): Result {
  if (origins.length === 0) return result;
  const headers = { ...result.headers, Vary: varyByOrigin(result.headers?.['Vary']) };
  if (origin === undefined || !origins.includes(origin)) return { ...result, headers };
  const allowed = { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposed };
  return { ...result, headers: { ...headers, ...allowed } };
}

function varyByOrigin(vary: unknown): string {
  if (typeof vary !== 'string' || vary === '') return 'Origin';
  return /(^|,)\s*origin\s*(,|$)/i.test(vary) ? vary : `${vary}, Origin`;
}

/**
 * Refuse writes by pages of other origins than `CORS_ORIGINS` and the service's own. Browsers send any page's form
 * without a preflight. The page could not read the response, but it could use up the sign-in attempts of its
 * reader's address. Clients other than browsers send neither header and pass.
 * @throws ServiceError 403
 */
export const refuseForeignPage: Middleware = ({ endpoint, event, platform: { settings } }) => {
  if (endpoint.method === 'GET' || !isForeign(event, settings.corsOrigins)) return;
  throw new ServiceError(
    'forbidden',
    "The request came from a page of another origin. Only pages of this service and of the deployment's corsOrigins may write.",
  );
};

/** Return whether a page of an unlisted origin sent the request. */
function isForeign(event: Event, origins: readonly string[]): boolean {
  const origin = headerOf(event, 'origin');
  if (origin !== undefined && origins.includes(origin)) return false;
  // Browsers send it to every https or loopback address, and no page can set it. `none` means that the user typed
  // the address.
  const site = headerOf(event, 'sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !isOwnOrigin(origin, headerOf(event, 'host'));
}

/** Return whether an `Origin` is the address of this service. Browsers omit the default port of a scheme. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const url = URL.parse(origin);
  if (url === null || host === undefined || !/^https?:$/.test(url.protocol)) return false;
  return url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}
