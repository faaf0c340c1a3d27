import type { FieldsBody, FileBody } from '../definition.ts';
import type { AnyEndpoint } from '../exchange.ts';

const changing = new Set(['PUT', 'PATCH', 'DELETE']);

export const bodySpec = ({ input }: AnyEndpoint): FieldsBody | FileBody | undefined => input.body;

/** Whether `If-Match` guards what the endpoint changes. */
export const hasPrecondition = ({ method, etag, problems = [] }: AnyEndpoint): boolean =>
  problems.includes('precondition-failed') || (etag === true && changing.has(method));

/** Whether `If-None-Match` spares a body that the caller has already. */
export const hasNotModified = ({ method, etag }: AnyEndpoint): boolean => method === 'GET' && etag === true;

/** Whether an `Idempotency-Key` makes the request safe to repeat. */
export const hasIdempotencyKey = ({ idempotent }: AnyEndpoint): boolean => idempotent !== undefined;

/** Whether the answer comes in pages. */
export const isPaged = ({ input }: AnyEndpoint): boolean => input.query?.shape['cursor'] !== undefined;
