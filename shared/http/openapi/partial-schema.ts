import { type JsonSchema, resolveSchema, type SchemaComponents } from './json-schema.ts';

const keywords = ['items', 'additionalProperties'] as const;
const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

/**
 * The schema of what a fields mask leaves of a value: the same names at every depth, none of them required. A mask
 * chooses the fields of the elements of a list, so lists stay lists.
 */
export function partialSchema(schema: JsonSchema, components: SchemaComponents): JsonSchema {
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
