import type * as z from 'zod';
import type { Content, OutputSpec } from '../definition/endpoint-output.ts';
import type { AnyEndpoint } from '../definition/exchange.ts';
import { problemKinds } from '../definition/problem.ts';
import { bytesContent, bytesSchema } from './bytes-content.ts';
import { type ExampleSource, exampleOf } from './example.ts';
import { hasIdempotencyKey, hasNotModified, isPaged } from './facts.ts';
import { componentRef, type JsonSchema, toJsonSchema } from './json-schema.ts';
import { partialSchema } from './partial-schema.ts';
import { headerRefs, problemsOf } from './problems.ts';

type Declared = NonNullable<OutputSpec[200]>;

const isContent = (declared: Declared): declared is Content => 'kind' in declared;

/** The schema of the JSON among the answers, undefined where there is none. */
export const jsonOf = (declared: Declared): z.ZodType | undefined =>
  isContent(declared) ? declared.json : declared;

const isText = (mediaType: string): boolean => /^text\/|[+/](xml|json)$/.test(mediaType);

const maskSource = ({ fieldsMask }: AnyEndpoint): string =>
  fieldsMask === true ? 'the mask in X-Fields' : 'the parameter `fields`';

const isMasked = ({ fieldsMask, fieldsParameter }: AnyEndpoint): boolean =>
  fieldsMask === true || fieldsParameter === true;

/** A masked answer has some of the fields, so it has a schema of its own beside that of the whole. */
function maskedSchema(endpoint: AnyEndpoint, whole: JsonSchema, { components }: ExampleSource): JsonSchema {
  const { name } = endpoint;
  const part = `${name.charAt(0).toUpperCase()}${name.slice(1)}Masked`;
  const description = `The fields of the response that ${maskSource(endpoint)} selects.`;
  components.set(part, { description, ...partialSchema(whole, components) });
  return { anyOf: [whole, componentRef(part)] };
}

function jsonMedia(endpoint: AnyEndpoint, json: z.ZodType, source: ExampleSource): JsonSchema {
  const whole = toJsonSchema(json, 'output', source.components);
  const schema = isMasked(endpoint) ? maskedSchema(endpoint, whole, source) : whole;
  return { schema, example: exampleOf(whole, source) };
}

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

/** Every answer that an operation can give, by status. */
export function responsesOf(endpoint: AnyEndpoint, source: ExampleSource): JsonSchema {
  const { output } = endpoint;
  const responses: Record<string, unknown> = {};
  for (const status of [200, 201] as const) {
    const declared = output[status];
    if (declared !== undefined) responses[status] = successResponse(endpoint, declared, source);
  }
  if (output[302] !== undefined) {
    // Generated clients follow the redirect, and then return what they find here.
    responses[200] = {
      description: 'The bytes, for a client that follows the redirect.',
      content: bytesContent,
    };
    const headers = headerRefs(['X-Request-Id', 'Location']);
    responses[302] = { description: 'Where the bytes are, for a short time.', headers };
  }
  if (hasNotModified(endpoint)) {
    const headers = headerRefs(['X-Request-Id', 'ETag']);
    responses[304] = { description: 'Still what If-None-Match names.', headers };
  }
  for (const kind of problemsOf(endpoint)) {
    responses[problemKinds[kind].status] = { $ref: `#/components/responses/${kind}` };
  }
  return responses;
}
