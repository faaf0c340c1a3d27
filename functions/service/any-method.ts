import { readCorsOrigins } from '../../shared/core/cors-origins.ts';
import { createLogger } from '../../shared/core/log.ts';
import type { Environment } from '../../shared/core/needs.ts';
import { newId } from '../../shared/core/new-id.ts';
import { HttpError } from '../../shared/http/answer/http-error.ts';
import { renderError } from '../../shared/http/answer/render-error.ts';
import { securityHeaders } from '../../shared/http/answer/security-headers.ts';
import type { RequestMethod } from '../../shared/http/definition/request-method.ts';
import { withCors } from '../../shared/http/pipeline/cors.ts';
import type { Handler } from '../../shared/http/pipeline/lambda.ts';
import { type Event, headerOf, type Result } from '../../shared/http/pipeline/proxy-event.ts';

/**
 * Handler of the `ANY` method of every route. It handles all methods without an endpoint: it answers a browser's
 * preflight for an origin of `CORS_ORIGINS`, and returns 405 with `Allow` for other requests. Without it, API
 * Gateway answers a wrong method like a missing token. The deployment generates the table from the endpoints.
 */
export function anyMethod(table: MethodTable, environment: Environment = process.env): Handler {
  let origins: readonly string[] | undefined;
  return async (event) => {
    origins ??= readCorsOrigins(environment);
    const methods = Object.hasOwn(table, event.resource) ? (table[event.resource] ?? []) : [];
    const requestId = event.requestContext?.requestId ?? newId();
    const log = createLogger('warn', (line) => process.stdout.write(line));
    const result = isPreflight(event, origins)
      ? preflight(methods, requestId)
      : renderError(notAllowed(event, methods), requestId, log);
    return withCors(result, origins, headerOf(event, 'origin'));
  };
}

/** The methods of each route, such as `/users/{p1}/type`. */
export type MethodTable = Readonly<Record<string, readonly RequestMethod[]>>;

function isPreflight(event: Event, origins: readonly string[]): boolean {
  const origin = headerOf(event, 'origin');
  return (
    event.httpMethod === 'OPTIONS' &&
    headerOf(event, 'access-control-request-method') !== undefined &&
    origin !== undefined &&
    origins.includes(origin)
  );
}

const preflight = (methods: readonly RequestMethod[], requestId: string): Result => ({
  statusCode: 204,
  headers: {
    ...securityHeaders,
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': requestHeaders,
    'Access-Control-Max-Age': String(preflightSeconds),
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
  },
  body: '',
});

/** Request headers that operations accept besides the headers that browsers always send. */
const requestHeaders = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Fields';

/** Seconds for which browsers may cache a preflight. Chromium caches none for more than two hours. */
const preflightSeconds = 3600;

function notAllowed({ httpMethod, path }: Event, methods: readonly RequestMethod[]): HttpError {
  const allowed = methods.join(', ');
  return new HttpError('method-not-allowed', `${path} does not support ${httpMethod}. Allowed: ${allowed}.`, {
    Allow: allowed,
  });
}
