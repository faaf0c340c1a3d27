import type * as z from 'zod';
import { bytesMediaType } from '../definition/endpoint-input.ts';
import type { Content, OutputSpec } from '../definition/endpoint-output.ts';
import type { AnyEndpoint } from '../definition/middleware.ts';
import { problemKinds } from '../definition/problem.ts';
import { type ExampleSource, exampleOf } from './example.ts';
import { hasIdempotencyKey, hasNotModified, isPaged } from './facts.ts';
import {
  componentRef,
  type JsonSchema,
  resolveSchema,
  type SchemaComponents,
  toJsonSchema,
} from './json-schema.ts';
import { headerRefs, problemRef, problemsOf } from './problems.ts';

/** Bytes of any kind. Client generators need this format. */
const bytesSchema: JsonSchema = { type: 'string', format: 'binary' };

/** The content of a request or response body that is bytes. */
export const bytesContent: JsonSchema = { [bytesMediaType]: { schema: bytesSchema } };

/** All responses of an operation, by status. */
export function responsesOf(endpoint: AnyEndpoint, source: ExampleSource): JsonSchema {
  const { output } = endpoint;
  const responses: Record<string, unknown> = {};
  for (const status of [200, 201] as const) {
    const declared = output[status];
    if (declared !== undefined) responses[status] = successResponse(endpoint, declared, source);
  }
  if (output[302] !== undefined) {
    // Generated clients follow the redirect and return the response documented here.
    responses[200] = {
      description: 'The bytes, for a client that follows the redirect.',
      content: bytesContent,
    };
    const headers = headerRefs(['X-Request-Id', 'Location']);
    responses[302] = { description: 'Location of the bytes, valid for a short time.', headers };
  }
  if (hasNotModified(endpoint)) {
    const headers = headerRefs(['X-Request-Id', 'ETag']);
    responses[304] = { description: 'Unchanged since the ETag in If-None-Match.', headers };
  }
  for (const kind of problemsOf(endpoint)) {
    responses[problemKinds[kind].status] = problemRef(endpoint, kind);
  }
  return responses;
}

type Declared = NonNullable<OutputSpec[200]>;

function successResponse(endpoint: AnyEndpoint, declared: Declared, source: ExampleSource): JsonSchema {
  const headers = ['X-Request-Id'];
  if (endpoint.etag === true) headers.push('ETag');
  if (isPaged(endpoint)) headers.push('Link', 'X-Unreadable-Records');
  if (hasIdempotencyKey(endpoint)) headers.push('Idempotency-Replayed');
  const chosen = endpoint.fieldsMask === true ? 'X-Fields' : '`fields`';
  const masked = isMasked(endpoint) ? `; with ${chosen} only the fields that it names` : '';
  return {
    description: `${endpoint.summary}${masked}`,
    headers: headerRefs(headers),
    content: contentOf(endpoint, declared, source),
  };
}

const isMasked = ({ fieldsMask, fieldsParameter }: AnyEndpoint): boolean =>
  fieldsMask === true || fieldsParameter === true;

function contentOf(endpoint: AnyEndpoint, declared: Declared, source: ExampleSource): JsonSchema {
  const others = (isContent(declared) ? declared.mediaTypes : []).filter(
    (type) => type !== 'application/json',
  );
  const json = jsonOf(declared);
  return {
    ...(json !== undefined && { 'application/json': jsonMedia(endpoint, json, source) }),
    ...Object.fromEntries(
      others.map((type) => [type, { schema: isText(type) ? { type: 'string' } : bytesSchema }]),
    ),
  };
}

const isContent = (declared: Declared): declared is Content => 'kind' in declared;

/** The schema of the JSON answer; undefined if the answer is never JSON. */
export const jsonOf = (declared: Declared): z.ZodType | undefined =>
  isContent(declared) ? declared.json : declared;

function jsonMedia(endpoint: AnyEndpoint, json: z.ZodType, source: ExampleSource): JsonSchema {
  const whole = toJsonSchema(json, 'output', source.components);
  const schema = isMasked(endpoint) ? maskedSchema(endpoint, whole, source) : whole;
  return { schema, example: exampleOf(whole, source) };
}

/** A masked response has only some of the fields, so it gets its own schema. */
function maskedSchema(endpoint: AnyEndpoint, whole: JsonSchema, { components }: ExampleSource): JsonSchema {
  const { name } = endpoint;
  const part = `${name.charAt(0).toUpperCase()}${name.slice(1)}Masked`;
  const description = `The fields of the response that ${maskSource(endpoint)} selects.`;
  components.set(part, { description, ...partialSchema(whole, components) });
  return { anyOf: [whole, componentRef(part)] };
}

const maskSource = ({ fieldsMask }: AnyEndpoint): string =>
  fieldsMask === true ? 'the mask in X-Fields' : 'the parameter `fields`';

const keywords = ['items', 'additionalProperties'] as const;

const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;

/**
 * Return the schema of a masked value: the same names at every depth, none of them required. Lists stay lists,
 * because a mask selects fields of their elements.
 */
function partialSchema(schema: JsonSchema, components: SchemaComponents): JsonSchema {
  const part = (value: unknown): unknown => (isSchema(value) ? partialSchema(value, components) : value);
  const { required: _, ...result }: Record<string, unknown> = resolveSchema(schema, components);
  const { properties } = result;
  if (isSchema(properties)) {
    result['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, part(value)]),
    );
  }
  for (const keyword of keywords) if (keyword in result) result[keyword] = part(result[keyword]);
  for (const keyword of lists) {
    const value = result[keyword];
    if (Array.isArray(value)) result[keyword] = value.map(part);
  }
  return result;
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const isText = (mediaType: string): boolean => /^text\/|[+/](xml|json)$/.test(mediaType);
