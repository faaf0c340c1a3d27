import type { InputSpec } from '../definition/endpoint-input.ts';
import { fieldsMaxBytes } from './body-limit.ts';

/** An operation that takes no body tells so whoever sends a small one, and does not read a larger one. */
const noBodyMaxBytes = 1024;

/** Most bytes of body that an operation takes. */
export function bodyMaxBytes({ request, body, queryOrBody }: InputSpec): number {
  if (request !== undefined) return request.maxBytes;
  if (body !== undefined) return body.maxBytes;
  return queryOrBody === undefined ? noBodyMaxBytes : fieldsMaxBytes;
}
