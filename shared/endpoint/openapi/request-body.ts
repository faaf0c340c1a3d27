import type { AnyEndpoint } from '../exchange.ts';
import { type ExampleSource, exampleOf } from './example.ts';
import { bodySpec } from './facts.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';

/** The body that an operation takes: fields as JSON or form, or a file. */
export function requestBodyOf(endpoint: AnyEndpoint, source: ExampleSource): JsonSchema | undefined {
  const body = bodySpec(endpoint);
  if (body === undefined) return undefined;
  if (body.kind === 'file') {
    const description = `The file itself, at most ${body.maxBytes.toLocaleString('en')} bytes.`;
    return {
      description,
      required: true,
      content: Object.fromEntries(body.mediaTypes.map((mediaType) => [mediaType, {}])),
    };
  }
  const schema = toJsonSchema(body.schema, 'input', source.components);
  const media = { schema, example: exampleOf(schema, source) };
  return {
    required: Array.isArray(schema['required']) && schema['required'].length > 0,
    content: { 'application/json': media, 'application/x-www-form-urlencoded': media },
  };
}
