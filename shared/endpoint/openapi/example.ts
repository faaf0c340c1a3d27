import { type JsonSchema, resolveSchema, type SchemaComponents } from './json-schema.ts';

/** Values that show what a field of this name holds. */
export type Samples = Readonly<Record<string, unknown>>;

interface Source {
  samples: Samples;
  components: SchemaComponents;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** Whether a sample may stand for a schema: of its type, and one of its values where it lists them. */
function fits(value: unknown, schema: JsonSchema, components: SchemaComponents): boolean {
  const { type, enum: values, const: only, anyOf, pattern } = resolveSchema(schema, components);
  if (only !== undefined) return value === only;
  if (Array.isArray(values)) return values.includes(value);
  if (Array.isArray(anyOf)) return anyOf.some((one) => fits(value, one, components));
  if (typeof pattern === 'string' && typeof value === 'string' && !new RegExp(pattern, 'u').test(value)) {
    return false;
  }
  const given = typeOf(value);
  return type === undefined || type === given || (type === 'number' && given === 'integer');
}

function textExample({ format, minLength }: JsonSchema): string {
  if (format === 'date-time') return '2026-01-02T03:04:05.678Z';
  return 'text'.padEnd(typeof minLength === 'number' ? minLength : 0, '.');
}

function objectExample({ properties, required }: JsonSchema, source: Source): Record<string, unknown> {
  const wanted = Array.isArray(required) ? required : [];
  const entries = Object.entries(properties ?? {}).filter(
    ([name]) => wanted.includes(name) || name in source.samples,
  );
  return Object.fromEntries(
    entries.map(([name, schema]): [string, unknown] => [name, exampleOf(schema, source, name)]),
  );
}

/**
 * A value that a schema describes: the sample of its name where that fits, else made from the schema. Lists have one
 * element.
 */
export function exampleOf(schema: JsonSchema, source: Source, name?: string): unknown {
  const { samples, components } = source;
  const resolved = resolveSchema(schema, components);
  const isSampled = name !== undefined && Object.hasOwn(samples, name);
  if (isSampled && fits(samples[name], resolved, components)) return samples[name];
  const { const: only, enum: values, anyOf, type, items, minimum } = resolved;
  if (only !== undefined) return only;
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0], source, name);
  if (type === 'object') return objectExample(resolved, source);
  if (type === 'array') return [exampleOf(typeof items === 'object' && items !== null ? { ...items } : {}, source)];
  if (type === 'string') return textExample(resolved);
  if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? Math.max(minimum, 1) : 1;
  if (type === 'boolean') return false;
  return null;
}
