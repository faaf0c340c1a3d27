import * as z from 'zod';
import type { RawRequest } from '../../http/definition/endpoint-input.ts';
import { mlflowError } from './mlflow-error.ts';

/** Unwraps what is optional or has a default. */
function isList(schema: unknown): boolean {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return isList(schema.unwrap());
  return schema instanceof z.ZodArray;
}

function fromQuery(query: URLSearchParams, { shape }: z.ZodObject): Record<string, unknown> {
  const entries = [...new Set(query.keys())].map((name): [string, unknown] => [
    name,
    isList(shape[name]) ? query.getAll(name) : query.get(name),
  ]);
  return Object.fromEntries(entries);
}

function fromBody(bytes: Uint8Array): Record<string, unknown> {
  if (bytes.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw mlflowError('BAD_REQUEST', 'The body is not valid JSON in UTF-8.');
  }
  // Some clients send the JSON text as a JSON string.
  if (typeof value === 'string') return fromBody(Buffer.from(value));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw mlflowError('BAD_REQUEST', 'The body must be a JSON object.');
}

/** `metrics[0].key` */
const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, part) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, part) : undefined),
    value,
  );

const maxShown = 200;

function faultOf(sent: unknown, { path, message }: { path: PropertyKey[]; message: string }): string {
  const name = pathOf(path);
  const value = valueAt(sent, path);
  if (value === undefined || value === null || value === '')
    return `Missing value for required parameter '${name}'.`;
  if (message.startsWith('exceeds ')) return `'${name}' ${message}.`;
  const shown = JSON.stringify(value).slice(0, maxShown);
  return `Invalid value ${shown} for parameter '${name}' supplied: ${message}`;
}

/**
 * The fields of a request, from the query or from the JSON body. Fields without a value count as absent and unknown ones are
 * ignored, as Protocol Buffers have it.
 * @throws ServiceError `INVALID_PARAMETER_VALUE` naming every fault
 */
export function parseRequest<S extends z.ZodObject>(schema: S, request: RawRequest): z.output<S> {
  const body = fromBody(request.bytes);
  const asked: Record<string, unknown> = { ...fromQuery(request.query, schema), ...body };
  // Clients before 2.0 name the id of a run so.
  const sent = { run_id: asked['run_uuid'], ...asked };
  const given = Object.fromEntries(
    Object.entries(sent).filter(([, value]) => value !== null && value !== undefined),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => faultOf(given, issue));
  throw mlflowError('INVALID_PARAMETER_VALUE', [...new Set(faults)].slice(0, 10).join(' '));
}
