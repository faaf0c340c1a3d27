import * as z from 'zod';
import * as core from 'zod/v4/core';
import type { FieldsMask } from './parse-mask.ts';
import { requireConsistent } from './require-consistent.ts';
import { alternativesOf, type Shape } from './schema-shape.ts';

type Schema = core.$ZodType;
type Mask = true | FieldsMask;
type Json = Readonly<Record<string, unknown>>;

const anything = z.unknown();

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): Shape['kind'] {
  if (Array.isArray(value)) return 'list';
  return isObject(value) ? 'object' : 'scalar';
}

/** The shape that a value of a schema has. */
function shapeOfValue(schema: Schema, value: unknown): Shape {
  const kind = kindOf(value);
  const alternatives = alternativesOf(schema);
  const likely = alternatives.filter(({ shape }) => shape.kind === kind);
  // Like the union itself, the first that takes the value; parsing is left out where the kind alone decides.
  const chosen =
    likely.length > 1 ? likely.find((one) => core.safeParse(one.schema, value).success) : undefined;
  const shape = (chosen ?? likely[0])?.shape;
  if (shape !== undefined) return shape;
  if (!alternatives.some((one) => one.shape.kind === 'open')) return { kind: 'scalar' };
  if (kind === 'list') return { kind, items: [], rest: anything };
  return kind === 'object' ? { kind, fields: new Map(), rest: anything } : { kind: 'scalar' };
}

/** The fields to show in their order: those mentioned, then with `*` all others. */
function chosenFields(
  mask: Mask,
  { fields, rest }: Shape & { kind: 'object' },
  value: Json,
): Map<string, Mask> {
  const chosen = new Map<string, Mask>();
  const mentioned = mask === true ? [] : mask;
  for (const [name, sub] of mentioned) {
    const known = fields.has(name) || (rest !== undefined && Object.hasOwn(value, name));
    if (known) chosen.set(name, sub);
  }
  if (mask !== true && !mask.has('*')) return chosen;
  const others = rest === undefined ? fields.keys() : [...fields.keys(), ...Object.keys(value)];
  for (const name of others) if (!chosen.has(name)) chosen.set(name, true);
  return chosen;
}

function show(mask: Mask, schema: Schema, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  const shape = shapeOfValue(schema, value);
  if (shape.kind === 'list' && Array.isArray(value)) {
    return value.map((element: unknown, at) =>
      show(mask, shape.items[at] ?? shape.rest ?? anything, element),
    );
  }
  if (shape.kind !== 'object' || !isObject(value)) return value;
  // fromEntries defines properties, so that a field called __proto__ is a field like any other.
  return Object.fromEntries(
    [...chosenFields(mask, shape, value)].map(([name, sub]) => {
      const whole = sub === true || sub.size === 0 ? true : sub;
      const present = Object.hasOwn(value, name) ? value[name] : null;
      return [name, show(whole, shape.fields.get(name) ?? shape.rest ?? anything, present)];
    }),
  );
}

/**
 * The part of an answer that a mask asks for. `value` is the JSON that `schema` has parsed. A mask goes through lists
 * to each element, and through nullable, optional and other wrappers. Names the schema does not know are left out,
 * known ones that are absent become null, at any depth; in what the schema leaves open (records, unknown) only names
 * that are there count as known. Throws the 400 problem of {@link requireConsistent}.
 */
export function applyMask(mask: FieldsMask, schema: z.ZodType, value: unknown): unknown {
  requireConsistent(mask, schema);
  return show(mask, schema, value);
}
