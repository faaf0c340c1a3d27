import type * as z from 'zod';
import type { ParameterFault, ParameterPlace } from '../../core/service-error.ts';

export type Values = Record<string, unknown>;

/** Values as a caller sent them. */
export interface Given {
  values: Values;
  /** Where a parameter stands, or, where it is missing, would be looked for. */
  placeOf(name: string): ParameterPlace;
  /** Parameters that the operation takes in the same place but that are parsed with others. */
  alsoTaken?: readonly string[];
}

export interface Part {
  value: unknown;
  faults: ParameterFault[];
  /** What a rule over several parameters allows, where one is broken that says so. */
  allowed?: string;
}

const secret = /password$|^value$/i;

/** Message for a parameter that an operation does not have. */
function unknownParameter(place: ParameterPlace, name: string, taken: readonly string[]): ParameterFault {
  if (place === 'query' && secret.test(name)) {
    const message = 'must not be in the URL, which is logged everywhere: send it as JSON or form';
    return { in: place, name, message };
  }
  const known = taken.length === 0 ? `there are none in the ${place}` : `allowed are ${taken.join(', ')}`;
  return { in: place, name, message: `is not a parameter of this operation; ${known}` };
}

const types: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};

/** What is wrong, in words; zod's own for a value of another type differ from bundle to bundle. */
function messageOf(issue: z.core.$ZodIssue): string {
  // Of a name that a caller chose, such as that of a tag.
  if (issue.code === 'invalid_key') return `its name ${issue.issues[0]?.message ?? 'is not taken'}`;
  const isOwn = issue.code === 'invalid_type' && issue.message.startsWith('Invalid input');
  return isOwn ? `must be ${types[issue.expected] ?? issue.expected}` : issue.message;
}

function faultsOf(error: z.ZodError, { values, placeOf }: Given, taken: readonly string[]): ParameterFault[] {
  const faults = error.issues.flatMap((issue): ParameterFault[] => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((name) => unknownParameter(placeOf(name), name, taken));
    const top = issue.path[0];
    const place = placeOf(top === undefined ? '' : String(top));
    // A parameter of a query has no parts, though it may be given several times.
    const name = (place === 'query' ? issue.path.slice(0, 1) : issue.path).map(String).join('.');
    const isAbsent = typeof top === 'string' && issue.path.length === 1 && !Object.hasOwn(values, top);
    // A rule over several parameters says itself what it misses.
    const missing = isAbsent && issue.code !== 'custom';
    return [
      { in: place, name: name === '' ? place : name, message: missing ? 'is required' : messageOf(issue) },
    ];
  });
  // What else is wrong with a blank name is of no use to anybody.
  return faults.filter((fault, index) => faults.findIndex(({ name }) => name === fault.name) === index);
}

/** What broken rules over several parameters allow: `params.allowed` of their issues. */
function allowedBy({ issues }: z.ZodError): string | undefined {
  const messages = issues.map((issue): unknown =>
    issue.code === 'custom' ? issue.params?.['allowed'] : undefined,
  );
  return messages.find((one) => typeof one === 'string');
}

const strictSchemas = new WeakMap<z.ZodObject, z.ZodObject>();

/** The schema that refuses what it does not declare. Made once: zod compiles every new schema at its first use. */
function strictly(schema: z.ZodObject): z.ZodObject {
  let strict = strictSchemas.get(schema);
  if (strict === undefined) {
    strict = schema.strict();
    strictSchemas.set(schema, strict);
  }
  return strict;
}

/** Parses values by a schema, naming the first fault of each; without a schema there should be none. */
export function parsePart(schema: z.ZodObject | undefined, given: Given): Part {
  const taken = [...Object.keys(schema?.shape ?? {}), ...(given.alsoTaken ?? [])];
  if (schema === undefined) {
    const faults = Object.keys(given.values).map((name) =>
      unknownParameter(given.placeOf(name), name, taken),
    );
    return { value: {}, faults };
  }
  const parsed = strictly(schema).safeParse(given.values);
  if (parsed.success) return { value: parsed.data, faults: [] };
  const allowed = allowedBy(parsed.error);
  const faults = faultsOf(parsed.error, given, taken);
  return { value: undefined, faults, ...(allowed !== undefined && { allowed }) };
}
