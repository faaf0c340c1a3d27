import { type JsonSchema, resolveSchema, type SchemaComponents } from './json-schema.ts';

/** Sample values by field name. */
export type Samples = Readonly<Record<string, unknown>>;

/** The data for examples. */
export interface ExampleSource {
  samples: Samples;
  components: SchemaComponents;
}

/**
 * Return an example value for a schema: the sample of its name if it fits (`parent.name` or `Component.name`
 * before `name`), else one made from the schema. Lists have one element.
 */
export function exampleOf(
  schema: JsonSchema,
  source: ExampleSource,
  name?: string,
  parent?: string,
): unknown {
  const { samples, components } = source;
  const resolved = resolveSchema(schema, components);
  for (const key of name === undefined ? [] : [`${parent}.${name}`, name]) {
    if (Object.hasOwn(samples, key) && fits(samples[key], resolved, components)) return samples[key];
  }
  const { const: only, enum: values, type, items, minItems } = resolved;
  const anyOf = resolved['anyOf'] ?? resolved['oneOf'];
  if (only !== undefined) return only;
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0], source, name, parent);
  const [first] = [type].flat();
  // The root has no name except that of its component.
  const component = String(schema['$ref'] ?? '')
    .split('/')
    .at(-1);
  if (first === 'object') return objectExample(resolved, source, name ?? component);
  if (first !== 'array') return bareExample(first, resolved);
  if (typeof items !== 'object' || items === null) return [];
  const length = typeof minItems === 'number' ? Math.max(minItems, 1) : 1;
  return Array.from({ length }, () => exampleOf({ ...items }, source, undefined, name));
}

/** Whether a sample fits a schema: its type, pattern, and enumerated values. */
function fits(value: unknown, schema: JsonSchema, components: SchemaComponents): boolean {
  const {
    type,
    enum: values,
    const: only,
    oneOf,
    anyOf = oneOf,
    pattern,
  } = resolveSchema(schema, components);
  if (only !== undefined) return value === only;
  if (Array.isArray(values)) return values.includes(value);
  if (Array.isArray(anyOf)) return anyOf.some((one) => fits(value, one, components));
  if (typeof pattern === 'string' && typeof value === 'string' && !new RegExp(pattern, 'u').test(value)) {
    return false;
  }
  const given = typeOf(value);
  const types = [type].flat();
  return type === undefined || types.includes(given) || (types.includes('number') && given === 'integer');
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function objectExample(schema: JsonSchema, source: ExampleSource, parent: string | undefined): JsonSchema {
  const { properties, required } = schema;
  const wanted = Array.isArray(required) ? required : [];
  const entries = Object.entries(properties ?? {}).filter(
    ([name]) => wanted.includes(name) || Object.hasOwn(source.samples, name),
  );
  return Object.fromEntries(
    entries.map(([name, inner]): [string, unknown] => [name, exampleOf(inner, source, name, parent)]),
  );
}

function bareExample(type: unknown, schema: JsonSchema): unknown {
  const { minimum } = schema;
  if (type === 'string') return textExample(schema);
  if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? Math.max(minimum, 1) : 1;
  return type === 'boolean' ? false : null;
}

function textExample({ format, minLength }: JsonSchema): string {
  if (format === 'date-time') return '2026-01-02T03:04:05.678Z';
  return 'text'.padEnd(typeof minLength === 'number' ? minLength : 0, '.');
}
