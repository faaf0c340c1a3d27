import type * as z from 'zod';
import type { FileBody } from '../definition.ts';
import type { AnyEndpoint } from '../exchange.ts';

const changing = new Set(['PUT', 'PATCH', 'DELETE']);

/** The file that is the body, where it is one. */
export const fileBody = ({ input: { body } }: AnyEndpoint): FileBody | undefined =>
  body?.kind === 'file' ? body : undefined;

/**
 * Whether parameters that may stand in the query or in the body are documented as fields of the body. A document
 * cannot say "in either", so it says what clients do best: few send a body with DELETE.
 */
const anywhereInBody = ({ method, input }: AnyEndpoint): boolean =>
  input.body !== undefined || (method !== 'GET' && method !== 'DELETE');

/** Fields of the body, undefined where none are documented. */
export function bodyFields(endpoint: AnyEndpoint): z.ZodObject | undefined {
  const { anywhere, body } = endpoint.input;
  const own = body?.kind === 'fields' ? body.schema : undefined;
  if (anywhere === undefined || !anywhereInBody(endpoint)) return own;
  return own === undefined ? anywhere : anywhere.extend(own.shape);
}

/** Parameters of the query, undefined where none are documented. */
export function queryParameters(endpoint: AnyEndpoint): z.ZodObject | undefined {
  const { anywhere, query } = endpoint.input;
  if (anywhere === undefined || anywhereInBody(endpoint)) return query;
  return query === undefined ? anywhere : query.extend(anywhere.shape);
}

/** Where else than documented the parameters that may stand anywhere are taken. */
export function otherPlace(endpoint: AnyEndpoint): string | undefined {
  const { anywhere } = endpoint.input;
  if (anywhere === undefined) return undefined;
  const names = Object.keys(anywhere.shape).map((name) => `\`${name}\``);
  const place = anywhereInBody(endpoint) ? 'the query' : 'a JSON or form body';
  return `${names.join(', ')} may also stand in ${place}, each given once.`;
}

/** Whether a body is read at all. */
export const readsBody = ({ input: { body, anywhere } }: AnyEndpoint): boolean =>
  body !== undefined || anywhere !== undefined;

/** Whether `If-Match` guards what the endpoint changes. */
export const hasPrecondition = ({ method, etag, problems = [] }: AnyEndpoint): boolean =>
  problems.includes('precondition-failed') || (etag === true && changing.has(method));

/** Whether `If-None-Match` spares a body that the caller has already. */
export const hasNotModified = ({ method, etag }: AnyEndpoint): boolean => method === 'GET' && etag === true;

/** Whether an `Idempotency-Key` makes the request safe to repeat. */
export const hasIdempotencyKey = ({ idempotent }: AnyEndpoint): boolean => idempotent !== undefined;

/** Whether the answer comes in pages. */
export const isPaged = ({ input }: AnyEndpoint): boolean => input.query?.shape['cursor'] !== undefined;
