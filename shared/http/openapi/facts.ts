import type * as z from 'zod';
import type { FileBody } from '../definition/endpoint-input.ts';
import type { AnyEndpoint } from '../definition/middleware.ts';

/** The body, if it is a file. */
export const fileBody = ({ input: { body } }: AnyEndpoint): FileBody | undefined =>
  body?.kind === 'file' ? body : undefined;

/** Documented fields of the body; undefined if there are none. */
export function bodyFields(endpoint: AnyEndpoint): z.ZodObject | undefined {
  const { queryOrBody, body } = endpoint.input;
  const own = body?.kind === 'fields' ? body.schema : undefined;
  if (queryOrBody === undefined || !isInBody(endpoint)) return own;
  return own === undefined ? queryOrBody : queryOrBody.extend(own.shape);
}

/**
 * Return whether parameters that are allowed in the query and in the body are documented as fields of the body.
 * OpenAPI cannot express "either", so the document names the location that most clients support: few send a body
 * with DELETE.
 */
const isInBody = ({ method, input }: AnyEndpoint): boolean =>
  input.body !== undefined || (method !== 'GET' && method !== 'DELETE');

/** Documented parameters of the query; undefined if there are none. */
export function queryParameters(endpoint: AnyEndpoint): z.ZodObject | undefined {
  const { queryOrBody, query } = endpoint.input;
  if (queryOrBody === undefined || isInBody(endpoint)) return query;
  return query === undefined ? queryOrBody : query.extend(queryOrBody.shape);
}

/** Return a sentence about parameters that are also accepted in another location than the documented one. */
export function otherPlace(endpoint: AnyEndpoint): string | undefined {
  const { queryOrBody } = endpoint.input;
  if (queryOrBody === undefined) return undefined;
  const names = Object.keys(queryOrBody.shape).map((name) => `\`${name}\``);
  const place = isInBody(endpoint) ? 'the query' : 'a JSON or form body';
  return `${names.join(', ')} may also be in ${place}, each given once.`;
}

/** Whether the operation reads a body. */
export const readsBody = ({ input: { body, queryOrBody } }: AnyEndpoint): boolean =>
  body !== undefined || queryOrBody !== undefined;

const changing = new Set(['PUT', 'PATCH', 'DELETE']);

/** Return whether `If-Match` protects the endpoint's changes. */
export const hasPrecondition = ({ method, etag, problems = [] }: AnyEndpoint): boolean =>
  problems.includes('precondition-failed') || (etag === true && changing.has(method));

/** Return whether `If-None-Match` avoids sending a body that the caller already has. */
export const hasNotModified = ({ method, etag }: AnyEndpoint): boolean => method === 'GET' && etag === true;

/** Whether an `Idempotency-Key` makes the request safe to repeat. */
export const hasIdempotencyKey = ({ idempotent }: AnyEndpoint): boolean => idempotent !== undefined;

/** Whether the answer comes in pages. */
export const isPaged = ({ input }: AnyEndpoint): boolean => input.query?.shape['cursor'] !== undefined;
