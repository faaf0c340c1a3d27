import type { ApiSchema } from './api-document.ts';

/** Schemas of the document by name. */
export type Schemas = Readonly<Record<string, ApiSchema>>;

export const isSchema = (value: unknown): value is ApiSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Name of the component that a schema references. */
export function refName({ $ref }: ApiSchema): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}

/** Resolve a reference to a component. */
export function followed(schema: ApiSchema, schemas: Schemas): ApiSchema {
  const name = refName(schema);
  return name === undefined ? schema : (schemas[name] ?? {});
}

function bounds(schema: ApiSchema, least: string, most: string, unit: string): string {
  const { [least]: from, [most]: to } = schema;
  if (from !== undefined && to !== undefined) return ` ${from}–${to}${unit}`;
  if (from !== undefined) return ` ≥ ${from}${unit}`;
  return to === undefined ? '' : ` ≤ ${to}${unit}`;
}

function scalarText(type: string, schema: ApiSchema): string {
  if (type === 'string') {
    const format = typeof schema['format'] === 'string' ? ` (${schema['format']})` : '';
    if (schema['minLength'] === 1 && schema['maxLength'] === undefined) return `string${format}, not blank`;
    return `string${format}${bounds(schema, 'minLength', 'maxLength', ' characters')}`;
  }
  return `${type}${bounds(schema, 'minimum', 'maximum', '')}`;
}

/** Format the type of a value: `string 1–128 characters`, `list of Project`, `a | b`. */
export function typeText(schema: ApiSchema, schemas: Schemas): string {
  const name = refName(schema);
  if (name !== undefined) return name;
  const { type, const: only, enum: values, anyOf, items } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeText(one, schemas)).join(' or ');
  if (Array.isArray(type)) return type.map((one) => scalarText(String(one), schema)).join(' or ');
  if (type === 'array') {
    const element = isSchema(items) ? typeText(items, schemas) : 'object';
    return element === 'object' ? 'list' : `list of ${element}`;
  }
  return typeof type === 'string' ? scalarText(type, schema) : 'any JSON';
}
