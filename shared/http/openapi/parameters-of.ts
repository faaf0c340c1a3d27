import type * as z from 'zod';
import type { AnyEndpoint } from '../definition/exchange.ts';
import { type ExampleSource, exampleOf } from './example.ts';
import { hasIdempotencyKey, hasNotModified, hasPrecondition, queryParameters } from './facts.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
}

function ofSchema(
  place: 'path' | 'query',
  object: z.ZodObject | undefined,
  source: ExampleSource,
): Parameter[] {
  if (object === undefined) return [];
  const { properties = {}, required = [] } = toJsonSchema(object, 'input', source.components);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties ?? {}).map(([name, given]): Parameter => {
    const { description, ...schema }: JsonSchema = { ...given };
    return {
      name,
      in: place,
      required: needed.includes(name),
      ...(typeof description === 'string' && { description }),
      schema,
      ...(Object.hasOwn(source.samples, name) && { example: exampleOf(schema, source, name, place) }),
    };
  });
}

const text = { type: 'string' };

const header = (
  name: string,
  description: string,
  example: string,
  schema: JsonSchema = text,
): Parameter => ({ name, in: 'header', required: false, description, schema, example });

// Patterns, where a union or a constant would say it: generated clients make a class of either, for the name `*`.
const anything = { ...text, pattern: '^\\*$' };
const entityTag = { ...text, pattern: '^(\\*|(W/)?"[0-9]{1,15}-[A-Za-z0-9_-]+")$' };
// Blanks around the value of a header are not part of it.
const idempotencyKey = { ...text, minLength: 1, maxLength: 255, pattern: '^[!-~]([ -~]*[!-~])?$' };

const exampleTag = '"3-pXk2mVq0Zl9aYb1c"';

/** Parameters of an operation: those of its input, and the headers that work on it. `maskExample` is a mask of its answer. */
export function parametersOf(endpoint: AnyEndpoint, maskExample: string, source: ExampleSource): Parameter[] {
  const { input, fieldsMask, method } = endpoint;
  const headers: Parameter[] = [];
  if (fieldsMask === true) {
    const description =
      'Fields mask: the response has only these fields, `*` means all; unknown names are ignored.';
    headers.push(header('X-Fields', description, maskExample));
  }
  if (hasIdempotencyKey(endpoint)) {
    const description =
      'A key of your choice. A request that is repeated with the same key takes effect once and gets the same response.';
    headers.push(header('Idempotency-Key', description, '6f1c0a52-create-digits', idempotencyKey));
  }
  if (hasNotModified(endpoint)) {
    headers.push(
      header('If-None-Match', 'ETag of an earlier response: 304 if nothing has changed.', exampleTag),
    );
  }
  if (hasPrecondition(endpoint)) {
    headers.push(
      header(
        'If-Match',
        'ETag of an earlier response: 412 if the record has changed since.',
        exampleTag,
        entityTag,
      ),
    );
    if (method === 'PUT') {
      headers.push(header('If-None-Match', '`*`: 412 if it exists already.', '*', anything));
    }
  }
  return [
    ...ofSchema('path', input.path, source),
    ...ofSchema('query', queryParameters(endpoint), source),
    ...headers,
  ];
}
