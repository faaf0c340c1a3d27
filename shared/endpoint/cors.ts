import * as z from 'zod';
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

function originFault(origin: string): string | undefined {
  if (origin.includes('*')) return `${JSON.stringify(origin)} is refused: name each origin`;
  const url = URL.parse(origin);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return `${JSON.stringify(origin)} is no origin such as https://app.example`;
  }
  return url.origin === origin ? undefined : `${JSON.stringify(origin)} must be written ${url.origin}`;
}

/**
 * Origins whose pages may call the service from a browser: `https://app.example,http://localhost:5173`, each exactly
 * as browsers send it. None by default, and never all.
 */
export const CorsOrigins = z
  .string()
  .default('')
  .transform((list, context): readonly string[] => {
    const origins = list
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== '');
    for (const fault of origins.map(originFault)) {
      if (fault !== undefined) context.addIssue(fault);
    }
    return [...new Set(origins)];
  });

/** The origins of `CORS_ORIGINS`, for whoever needs no other setting. @throws Error naming every bad one */
export function readCorsOrigins(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const parsed = CorsOrigins.safeParse(environment['CORS_ORIGINS']);
  if (parsed.success) return parsed.data;
  throw new Error(`CORS_ORIGINS: ${parsed.error.issues.map(({ message }) => message).join('; ')}`);
}

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
