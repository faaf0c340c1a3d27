import type * as z from 'zod';
import type { FileBody } from '../definition/endpoint-input.ts';
import type { AnyEndpoint } from '../definition/exchange.ts';

const changing = new Set(['PUT', 'PATCH', 'DELETE']);

/** The file that is the body, where it is one. */
export const fileBody = ({ input: { body } }: AnyEndpoint): FileBody | undefined =>
  body?.kind === 'file' ? body : undefined;

/**
 * Whether parameters that may stand in the query or in the body are documented as fields of the body. A document
 * cannot say "in either", so it says what clients do best: few send a body with DELETE.
 */
const isInBody = ({ method, input }: AnyEndpoint): boolean =>
  input.body !== undefined || (method !== 'GET' && method !== 'DELETE');

/** Fields of the body, undefined where none are documented. */
export function bodyFields(endpoint: AnyEndpoint): z.ZodObject | undefined {
  const { queryOrBody, body } = endpoint.input;
  const own = body?.kind === 'fields' ? body.schema : undefined;
  if (queryOrBody === undefined || !isInBody(endpoint)) return own;
  return own === undefined ? queryOrBody : queryOrBody.extend(own.shape);
}

/** Parameters of the query, undefined where none are documented. */
export function queryParameters(endpoint: AnyEndpoint): z.ZodObject | undefined {
  const { queryOrBody, query } = endpoint.input;
  if (queryOrBody === undefined || isInBody(endpoint)) return query;
  return query === undefined ? queryOrBody : query.extend(queryOrBody.shape);
}

/** Where else than documented the parameters that may stand anywhere are taken. */
export function otherPlace(endpoint: AnyEndpoint): string | undefined {
  const { queryOrBody } = endpoint.input;
  if (queryOrBody === undefined) return undefined;
  const names = Object.keys(queryOrBody.shape).map((name) => `\`${name}\``);
  const place = isInBody(endpoint) ? 'the query' : 'a JSON or form body';
  return `${names.join(', ')} may also stand in ${place}, each given once.`;
}

/** Whether a body is read at all. */
export const readsBody = ({ input: { body, queryOrBody } }: AnyEndpoint): boolean =>
  body !== undefined || queryOrBody !== undefined;

/** Whether `If-Match` guards what the endpoint changes. */
export const hasPrecondition = ({ method, etag, problems = [] }: AnyEndpoint): boolean =>
  problems.includes('precondition-failed') || (etag === true && changing.has(method));

/** Whether `If-None-Match` spares a body that the caller has already. */
export const hasNotModified = ({ method, etag }: AnyEndpoint): boolean => method === 'GET' && etag === true;

/** Whether an `Idempotency-Key` makes the request safe to repeat. */
export const hasIdempotencyKey = ({ idempotent }: AnyEndpoint): boolean => idempotent !== undefined;

/** Whether the answer comes in pages. */
export const isPaged = ({ input }: AnyEndpoint): boolean => input.query?.shape['cursor'] !== undefined;
