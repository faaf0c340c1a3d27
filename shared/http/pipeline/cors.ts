import type { Result } from './proxy-event.ts';

/** Response headers that scripts may read besides those that browsers always show. API Gateway renames one of them. */
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

function varyByOrigin(vary: unknown): string {
  if (typeof vary !== 'string' || vary === '') return 'Origin';
  return /(^|,)\s*origin\s*(,|$)/i.test(vary) ? vary : `${vary}, Origin`;
}

/**
 * An answer that the pages of the listed origins may read. `origin` is the request's header. Credentials of browsers
 * (cookies) play no part: who calls is said by a bearer token alone, so their mode is never allowed.
 */
export function withCors(result: Result, origins: readonly string[], origin: string | undefined): Result {
  if (origins.length === 0) return result;
  const headers = { ...result.headers, Vary: varyByOrigin(result.headers?.['Vary']) };
  if (origin === undefined || !origins.includes(origin)) return { ...result, headers };
  const allowed = { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposed };
  return { ...result, headers: { ...headers, ...allowed } };
}
