import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';

/** A JSON Schema (2020-12) as an OpenAPI 3.1 document holds it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Schemas under `components` of the document, by name. */
export type SchemaComponents = Map<string, JsonSchema>;

const componentPrefix = '#/components/schemas/';

export const componentRef = (name: string): JsonSchema => ({ $ref: `${componentPrefix}${name}` });

/** The component that a schema refers to, or the schema itself. Throws for a dangling reference. */
export function resolveSchema(schema: JsonSchema, components: SchemaComponents): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref !== 'string') return schema;
  const found = components.get($ref.slice(componentPrefix.length));
  if (found === undefined) throw new Error(`${$ref} leads nowhere`);
  return found;
}

/**
 * The JSON Schema of a request (`input`) or an answer (`output`). Schemas with `.meta({ id })` become components of
 * that name. Throws if two different schemas share a name.
 */
export function toJsonSchema(
  schema: z.core.$ZodType,
  io: 'input' | 'output',
  components: SchemaComponents,
): JsonSchema {
  const made = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => correct(zodSchema, jsonSchema),
  });
  const { $schema: _, $defs = {}, ...root } = made;
  for (const [name, definition] of Object.entries($defs)) {
    const { id: _id, ...component } = objectOf(definition);
    const known = components.get(name);
    if (known !== undefined && !isDeepStrictEqual(known, component)) {
      throw new Error(`two schemas are named ${name}`);
    }
    components.set(name, component);
  }
  return objectOf(root);
}

/**
 * Correct zod's JSON Schema. Coercing parameters accept numbers as text but declare their type by `.meta({ type
 * })`. A format is clearer to readers than zod's pattern for it.
 */
function correct(zodSchema: z.core.$ZodType, jsonSchema: Record<string, unknown>): void {
  const meta = declared(zodSchema);
  if (meta !== undefined) {
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
    Object.assign(jsonSchema, meta);
    return;
  }
  // zod leaves out the default of a coerced schema, because the default is a parsed value.
  if (zodSchema instanceof z.core.$ZodDefault) jsonSchema['default'] = zodSchema._zod.def.defaultValue;
  asList(jsonSchema);
  if (jsonSchema['format'] === 'date-time') delete jsonSchema['pattern'];
  // zod states that keys are strings, which they always are.
  if (isDeepStrictEqual(jsonSchema['propertyNames'], { type: 'string' })) delete jsonSchema['propertyNames'];
}

/** The JSON Schema that `schema` declares by `.meta()`, which replaces zod's. */
function declared(schema: z.core.$ZodType): Record<string, unknown> | undefined {
  const { id: _, ...meta }: Record<string, unknown> = z.globalRegistry.get(schema) ?? {};
  return meta['type'] === undefined ? undefined : meta;
}

/**
 * @throws Error for a tuple with different element types: most generators ignore `prefixItems` and `items: false`
 */
function asList(jsonSchema: Record<string, unknown>): void {
  const { prefixItems } = jsonSchema;
  if (!Array.isArray(prefixItems)) return;
  const [first] = prefixItems;
  if (!prefixItems.every((prefixItem) => isDeepStrictEqual(prefixItem, first))) {
    throw new Error('client generators support only tuples of one type; make this an object');
  }
  delete jsonSchema['prefixItems'];
  Object.assign(jsonSchema, { items: first, minItems: prefixItems.length, maxItems: prefixItems.length });
}

function objectOf(value: unknown): Record<string, unknown> {
  const linked = relinked(value);
  if (!isObject(linked)) throw new TypeError('a JSON Schema is an object here');
  return linked;
}

/** The schema with references to zod's `$defs` replaced by references to the document's components. */
function relinked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relinked);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]): [string, unknown] =>
      key === '$ref' && typeof inner === 'string'
        ? [key, inner.replace(/^#\/\$defs\//, componentPrefix)]
        : [key, relinked(inner)],
    ),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
