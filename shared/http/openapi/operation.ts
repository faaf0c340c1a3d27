import type * as z from 'zod';
import type { Rule } from '../definition/endpoint-context.ts';
import { bodyMaxBytes, bytesMediaType, type FileBody } from '../definition/endpoint-input.ts';
import { jsonSchema } from '../definition/endpoint-output.ts';
import type { AnyEndpoint } from '../definition/middleware.ts';
import { type ExampleSource, exampleOf } from './example.ts';
import {
  bodyFields,
  fileBody,
  hasIdempotencyKey,
  hasNotModified,
  hasPrecondition,
  otherPlace,
  queryParameters,
} from './facts.ts';
import { type JsonSchema, resolveSchema, toJsonSchema } from './json-schema.ts';
import { bytesContent, responsesOf } from './responses.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  requestBody?: JsonSchema;
  responses: JsonSchema;
  security: readonly JsonSchema[];
}

const text = { type: 'string' };

/** One operation of the document; `tag` is its group. */
export function operationOf(endpoint: AnyEndpoint, tag: string, source: ExampleSource): Operation {
  const { name, summary, description, allow } = endpoint;
  const requestBody = requestBodyOf(endpoint, source);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: [description, otherPlace(endpoint), whoMay(endpoint)]
      .filter((text) => text !== undefined)
      .join('\n\n'),
    parameters: parametersOf(endpoint, maskExample(endpoint, source), source),
    ...(requestBody !== undefined && { requestBody }),
    responses: responsesOf(endpoint, source),
    security: allow === 'anyone' ? [{}, { bearer: [] }] : [{ bearer: [] }],
  };
}

/** Return the body of an operation: fields as JSON or form, or a file. */
function requestBodyOf(endpoint: AnyEndpoint, source: ExampleSource): JsonSchema | undefined {
  const file = fileBody(endpoint);
  if (file !== undefined) {
    return {
      description: fileDescription(file),
      required: true,
      content: bytesContent,
    };
  }
  const fields = bodyFields(endpoint);
  if (fields === undefined) return undefined;
  const schema = toJsonSchema(fields, 'input', source.components);
  // zod leaves out the examples of requests whose schemas have defaults.
  const examples = fields.meta()?.['examples'];
  const example = Array.isArray(examples) ? examples[0] : exampleOf(schema, source);
  const media = { schema, example };
  const { required, minProperties } = schema;
  const asksForSome = typeof minProperties === 'number' && minProperties > 0;
  return {
    description: `At most ${bodyMaxBytes(endpoint.input).toLocaleString('en')} bytes. The same fields may also be sent as a form, \`application/x-www-form-urlencoded\`.`,
    required: asksForSome || (Array.isArray(required) && required.length > 0),
    // openapi-python-client forgets an import if a body may have two types.
    content: { 'application/json': media },
  };
}

function fileDescription({ mediaTypes, maxBytes }: FileBody): string {
  const others = mediaTypes.filter((mediaType) => mediaType !== bytesMediaType);
  const types = others.includes('*/*') ? 'any' : `${bytesMediaType} or its own: ${others.join(', ')}`;
  return `The file itself, at most ${maxBytes.toLocaleString('en')} bytes. Its Content-Type may be ${types}.`;
}

const callers: Record<Rule, string> = {
  anyone: 'Open to anyone.',
  guest: 'For all signed-in users.',
  viewer: 'For viewers, developers and admins.',
  developer: 'For developers and admins.',
  admin: 'For admins.',
};

/**
 * Who may call, in a sentence; undefined if that depends on the request, which the endpoint's description then
 * explains.
 */
function whoMay({ allow, project, problems = [] }: AnyEndpoint): string | undefined {
  if (project === 'owner' || project === 'remove') return 'For the project’s owner and admins.';
  if (project === 'developer')
    return 'For the project’s owner, its members with the role developer, and admins.';
  return allow === 'anyone' && problems.includes('forbidden') ? undefined : callers[allow];
}

// Spaces around a header's value do not belong to it.
const idempotencyKey = { ...text, minLength: 1, maxLength: 255, pattern: '^[!-~]([ -~]*[!-~])?$' };

const exampleTag = '"3-pXk2mVq0Zl9aYb1c"';

const entityTag = { ...text, pattern: '^(\\*|(W/)?"[0-9]{1,15}-[A-Za-z0-9_-]+")$' };

// A pattern instead of a union or constant, for which client generators would make a class named `*`.
const anything = { ...text, pattern: '^\\*$' };

/** Parameters of an operation: its path, its query and the headers that it supports. */
function parametersOf(endpoint: AnyEndpoint, maskExample: string, source: ExampleSource): Parameter[] {
  const { input, fieldsMask, method } = endpoint;
  const headers: Parameter[] = [];
  if (fieldsMask === true) {
    const description =
      'Fields mask. The response has only these fields; `*` means all. Unknown names are ignored.';
    headers.push(header('X-Fields', description, maskExample));
  }
  if (hasIdempotencyKey(endpoint)) {
    const description =
      'A key of your choice. A repeated request with the same key takes effect only once and gets the same response.';
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
      headers.push(header('If-None-Match', '`*`: 412 if it already exists.', '*', anything));
    }
  }
  return [
    ...ofSchema('path', input.path, source),
    ...ofSchema('query', queryParameters(endpoint), source),
    ...headers,
  ];
}

/** An example mask: the first two fields of the answer. */
function maskExample(endpoint: AnyEndpoint, { components }: ExampleSource): string {
  if (endpoint.fieldsMask !== true) return '';
  const schema = resolveSchema(toJsonSchema(jsonSchema(endpoint), 'output', components), components);
  const { items } = schema;
  const element =
    typeof items === 'object' && items !== null ? resolveSchema({ ...items }, components) : schema;
  return `{${Object.keys(element['properties'] ?? {})
    .slice(0, 2)
    .join(',')}}`;
}

const header = (
  name: string,
  description: string,
  example: string,
  schema: JsonSchema = text,
): Parameter => ({ name, in: 'header', required: false, description, schema, example });

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
