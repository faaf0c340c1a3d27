import { bodyMaxBytes } from '../body/body-max-bytes.ts';
import { bytesMediaType } from '../body/bytes-media-type.ts';
import type { FileBody } from '../definition/endpoint-input.ts';
import type { AnyEndpoint } from '../definition/exchange.ts';
import { bytesContent } from './bytes-content.ts';
import { type ExampleSource, exampleOf } from './example.ts';
import { bodyFields, fileBody } from './facts.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';

function fileDescription({ mediaTypes, maxBytes }: FileBody): string {
  const others = mediaTypes.filter((one) => one !== bytesMediaType);
  const types = others.includes('*/*') ? 'any' : `${bytesMediaType} or its own: ${others.join(', ')}`;
  return `The file itself, at most ${maxBytes.toLocaleString('en')} bytes. Its Content-Type may be ${types}.`;
}

/** The body that an operation takes: fields as JSON or form, or a file. */
export function requestBodyOf(endpoint: AnyEndpoint, source: ExampleSource): JsonSchema | undefined {
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
  const media = { schema, example: exampleOf(schema, source) };
  const { required, minProperties } = schema;
  const asksForSome = typeof minProperties === 'number' && minProperties > 0;
  return {
    description: `At most ${bodyMaxBytes(endpoint.input).toLocaleString('en')} bytes. The same fields may also be sent as a form, \`application/x-www-form-urlencoded\`.`,
    required: asksForSome || (Array.isArray(required) && required.length > 0),
    // openapi-python-client forgets an import where a body may be of two types.
    content: { 'application/json': media },
  };
}
