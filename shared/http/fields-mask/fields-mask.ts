import * as z from 'zod';
import * as core from 'zod/v4/core';
import { jsonSchema } from '../definition/endpoint-output.ts';
import type { Exchange } from '../definition/middleware.ts';
import { headerOf } from '../pipeline/proxy-event.ts';
import { maskOfFields } from './fields-parameter.ts';
import { type FieldsMask, maskProblem, parseMask } from './parse-mask.ts';
import { alternativesOf, type Shape } from './schema-shape.ts';

/**
 * Read the mask from `fields` or `X-Fields`, by the endpoint's definition. Ignore a blank one. Throw a 400 problem
 * for a mask that does not parse or does not fit the response, before the request changes anything.
 */
export const parseMaskOfRequest = (exchange: Exchange): void => {
  if (exchange.endpoint.fieldsParameter === true) {
    const fields = maskOfFields(exchange.input?.query);
    if (fields !== undefined) exchange.mask = fields;
  }
  if (exchange.endpoint.fieldsMask !== true) return;
  const text = headerOf(exchange.event, 'x-fields') ?? '';
  if (text.trim() === '') return;
  const mask = parseMask(text);
  requireConsistent(mask, jsonSchema(exchange.endpoint));
  exchange.mask = mask;
};

type Schema = core.$ZodType;

type Pair = [FieldsMask, Schema];

/**
 * Throw the 400 problem "Mask error: Mask is inconsistent with model" if a mask has a sub-mask on a scalar. This
 * needs only the schema, so it runs before the request does anything. A union fits if at least one alternative is
 * not a scalar and all such alternatives fit. An empty sub-mask fits every value with names or elements.
 */
function requireConsistent(mask: FieldsMask, schema: Schema): void {
  // Use no recursion, and visit every pair once: the caller chooses the depth of a mask, and schemas may be
  // recursive.
  const seen = new Map<FieldsMask, Set<Schema>>();
  const waiting: Pair[] = [[mask, schema]];
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const [next, against] = pair;
    const schemas = seen.get(next) ?? new Set();
    if (schemas.has(against)) continue;
    seen.set(next, schemas.add(against));
    const shapes = alternativesOf(against).map(({ shape }) => shape);
    const structured = shapes.filter(({ kind }) => kind !== 'scalar');
    if (structured.length === 0) throw maskProblem('Mask error: Mask is inconsistent with model');
    if (next.size === 0) continue;
    for (const shape of structured) waiting.push(...pairsBelow(next, shape));
  }
}

/**
 * Return the pairs to check for a mask on a shape: the mask with each element of a list, or its sub-masks with the
 * fields.
 */
function pairsBelow(mask: FieldsMask, shape: Shape): Pair[] {
  if (shape.kind === 'list') {
    const elements = shape.rest === undefined ? shape.items : [...shape.items, shape.rest];
    return elements.map((element) => [mask, element]);
  }
  if (shape.kind !== 'object') return [];
  return [...mask].flatMap(([name, sub]): Pair[] => {
    const field = shape.fields.get(name) ?? shape.rest;
    return sub === true || name === '*' || field === undefined ? [] : [[sub, field]];
  });
}

/**
 * Return the part of a response that a mask selects. `value` is JSON parsed by `schema`. A mask applies to each
 * element of a list, and through nullable, optional and other wrappers. At any depth, names unknown to the schema
 * are left out, and known but absent ones become null. If the schema is open (records, unknown), only names that
 * are present are known. Throw the 400 problem of {@link requireConsistent}.
 */
export function applyMask(mask: FieldsMask, schema: z.ZodType, value: unknown): unknown {
  requireConsistent(mask, schema);
  return show(mask, schema, value);
}

type Mask = true | FieldsMask;

const anything = z.unknown();

function show(mask: Mask, schema: Schema, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (mask === true && isComplete(schema)) return value;
  const shape = shapeOfValue(schema, value);
  if (shape.kind === 'list' && Array.isArray(value)) {
    return value.map((element: unknown, at) =>
      show(mask, shape.items[at] ?? shape.rest ?? anything, element),
    );
  }
  if (shape.kind !== 'object' || !isObject(value)) return value;
  // fromEntries defines properties, so a field called __proto__ is an ordinary field.
  return Object.fromEntries(
    [...chosenFields(mask, shape, value)].map(([name, sub]) => {
      const whole = sub === true || sub.size === 0 ? true : sub;
      const present = Object.hasOwn(value, name) ? value[name] : null;
      return [name, show(whole, shape.fields.get(name) ?? shape.rest ?? anything, present)];
    }),
  );
}

/** Return whether no value of a schema lacks a field that the schema knows. A mask that takes all of it changes nothing. */
function isComplete(schema: Schema): boolean {
  const known = complete.get(schema);
  if (known !== undefined) return known;
  // A schema that contains itself is taken as one that is not.
  complete.set(schema, false);
  const result = alternativesOf(schema).every(({ schema: alternative, shape }) => {
    if (shape.kind === 'open') return false;
    if (shape.kind === 'scalar') return true;
    const rest = shape.rest === undefined || isComplete(shape.rest);
    if (shape.kind === 'list') return rest && shape.items.every(isComplete);
    if (alternative instanceof core.$ZodRecord && shape.fields.size > 0) return false;
    return rest && [...shape.fields.values()].every(isPresent);
  });
  complete.set(schema, result);
  return result;
}

const complete = new WeakMap<Schema, boolean>();

const isPresent = (field: Schema): boolean => field._zod.optout !== 'optional' && isComplete(field);

/**
 * Return the schema of a list whose rows have only the fields that a mask names, so that the others of many rows are not
 * parsed. Other schemas are returned as they are.
 */
export function maskedSchema(schema: z.ZodType, mask: FieldsMask): z.ZodType {
  if (!(schema instanceof z.ZodArray) || !(schema.element instanceof z.ZodObject)) return schema;
  const { element } = schema;
  const isPlain = element.def.catchall === undefined && (element.def.checks?.length ?? 0) === 0;
  if (mask.has('*') || !isPlain) return schema;
  const names = Object.keys(element.shape).filter((name) => mask.has(name));
  const key = names.join();
  const byNames = masked.get(schema) ?? new Map<string, z.ZodType>();
  masked.set(schema, byNames);
  const known = byNames.get(key);
  if (known !== undefined) return known;
  // Callers choose the names, and to make a schema takes longer than to parse a row.
  if (byNames.size >= maxMasked) return schema;
  const result = z.array(z.object(Object.fromEntries(names.map((name) => [name, element.shape[name]]))));
  byNames.set(key, result);
  return result;
}

const masked = new WeakMap<z.ZodType, Map<string, z.ZodType>>();
/** Schemas that are kept for each list. The clients of this project use fewer. */
const maxMasked = 20;

/** The shape that a value of a schema has. */
function shapeOfValue(schema: Schema, value: unknown): Shape {
  const kind = kindOf(value);
  const alternatives = alternativesOf(schema);
  const likely = alternatives.filter(({ shape }) => shape.kind === kind);
  // Take the first alternative that accepts the value, as a union parses. Do not parse if the kind alone decides.
  const chosen =
    likely.length > 1 ? likely.find((one) => core.safeParse(one.schema, value).success) : undefined;
  const shape = (chosen ?? likely[0])?.shape;
  if (shape !== undefined) return shape;
  if (!alternatives.some((alternative) => alternative.shape.kind === 'open')) return { kind: 'scalar' };
  if (kind === 'list') return { kind, items: [], rest: anything };
  return kind === 'object' ? { kind, fields: new Map(), rest: anything } : { kind: 'scalar' };
}

function kindOf(value: unknown): Shape['kind'] {
  if (Array.isArray(value)) return 'list';
  return isObject(value) ? 'object' : 'scalar';
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Return the fields to show, in order: the mentioned ones, then with `*` all others. */
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
