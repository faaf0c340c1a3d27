import * as core from 'zod/v4/core';

type Schema = core.$ZodType;

/** Shape of a schema for a mask: names or elements, and their schemas. */
export type Shape =
  | { kind: 'scalar' }
  /** Any JSON at all. */
  | { kind: 'open' }
  /** `items` are the first elements (of a tuple), `rest` all others. */
  | { kind: 'list'; items: readonly Schema[]; rest: Schema | undefined }
  /** `fields` are known by name; `rest` is the schema of any other field. */
  | { kind: 'object'; fields: ReadonlyMap<string, Schema>; rest: Schema | undefined };

/** One of the shapes of a schema's values, with the schema that parses values of this shape. */
export interface Alternative {
  schema: Schema;
  shape: Shape;
}

const found = new WeakMap<Schema, readonly Alternative[]>();

/** Return the shapes of a schema's parsed values, without null: several for a union, else one. */
export function alternativesOf(schema: Schema): readonly Alternative[] {
  const known = found.get(schema);
  if (known !== undefined) return known;
  const alternatives = findAlternatives(schema);
  found.set(schema, alternatives);
  return alternatives;
}

function findAlternatives(schema: Schema): readonly Alternative[] {
  const inner = innerOf(schema);
  if (inner !== undefined) return alternativesOf(inner);
  if (schema instanceof core.$ZodUnion) return schema._zod.def.options.flatMap(alternativesOf);
  if (schema instanceof core.$ZodIntersection) {
    const { left, right } = schema._zod.def;
    return alternativesOf(left).flatMap((alternative) =>
      alternativesOf(right).map((other) => ({ schema, shape: merged(alternative.shape, other.shape) })),
    );
  }
  return [{ schema, shape: shapeOf(schema) }];
}

const wrappers = [
  core.$ZodOptional,
  core.$ZodNullable,
  core.$ZodNonOptional,
  core.$ZodDefault,
  core.$ZodPrefault,
  core.$ZodCatch,
  core.$ZodReadonly,
];

/** Return the schema inside a wrapper without names of its own; undefined for any other schema. */
function innerOf(schema: Schema): Schema | undefined {
  if (schema instanceof core.$ZodLazy) return schema._zod.innerType;
  if (schema instanceof core.$ZodPipe) return schema._zod.def.out;
  for (const wrapper of wrappers) if (schema instanceof wrapper) return schema._zod.def.innerType;
  return undefined;
}

function merged(left: Shape, right: Shape): Shape {
  if (left.kind !== 'object' || right.kind !== 'object') return { kind: 'open' };
  return {
    kind: 'object',
    fields: new Map([...left.fields, ...right.fields]),
    rest: left.rest ?? right.rest,
  };
}

function shapeOf(schema: Schema): Shape {
  if (schema instanceof core.$ZodObject) return objectShape(schema._zod.def);
  if (schema instanceof core.$ZodRecord) return recordShape(schema._zod.def);
  if (schema instanceof core.$ZodArray) {
    return { kind: 'list', items: [], rest: schema._zod.def.element };
  }
  if (schema instanceof core.$ZodTuple) {
    return { kind: 'list', items: schema._zod.def.items, rest: schema._zod.def.rest ?? undefined };
  }
  const open =
    schema instanceof core.$ZodUnknown ||
    schema instanceof core.$ZodAny ||
    schema instanceof core.$ZodTransform ||
    schema instanceof core.$ZodCustom;
  return { kind: open ? 'open' : 'scalar' };
}

function objectShape({ shape, catchall }: core.$ZodObjectDef): Shape {
  const closed = catchall === undefined || catchall instanceof core.$ZodNever;
  return { kind: 'object', fields: new Map(Object.entries(shape)), rest: closed ? undefined : catchall };
}

/** Return the shape of a record. Its keys are known if its key schema lists them. */
function recordShape({ keyType, valueType }: core.$ZodRecordDef): Shape {
  const keys = keyType._zod.values;
  if (keys === undefined) return { kind: 'object', fields: new Map(), rest: valueType };
  const fields = new Map([...keys].map((key): [string, Schema] => [String(key), valueType]));
  return { kind: 'object', fields, rest: undefined };
}
