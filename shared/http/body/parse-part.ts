import type * as z from 'zod';
import type { ParameterFault, ParameterPlace } from '../../core/service-error.ts';

export type Values = Record<string, unknown>;

/** Values as a caller sent them. */
export interface Given {
  values: Values;
  /** Return the location of a parameter, or the expected location of a missing one. */
  placeOf(name: string): ParameterPlace;
  /** Parameters of the same location that another schema parses. */
  alsoTaken?: readonly string[];
}

export interface Part {
  value: unknown;
  faults: ParameterFault[];
  /** Allowed values for a rule over several parameters, if the rule names them. */
  allowed?: string;
}

/** Parse values by a schema and report the first fault of each. Without a schema, every value is a fault. */
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

const secret = /password$|^value$/i;

/** Return the message for a parameter that an operation does not have. */
function unknownParameter(place: ParameterPlace, name: string, taken: readonly string[]): ParameterFault {
  if (place === 'query' && secret.test(name)) {
    const message = 'must not be in the URL, because URLs are logged; send it as JSON or form';
    return { in: place, name, message };
  }
  const known = taken.length === 0 ? `the ${place} has no parameters` : `allowed are ${taken.join(', ')}`;
  return { in: place, name, message: `is not a parameter of this operation; ${known}` };
}

/** Fault of a key that a parameter's object does not have. The schema's own message may list those it has. */
function unknownPart(
  { path, message }: z.core.$ZodIssueUnrecognizedKeys,
  key: string,
  placeOf: Given['placeOf'],
): ParameterFault {
  const isOwn = message.startsWith('Unrecognized key');
  const name = [...path, key].map(String).join('.');
  return { in: placeOf(String(path[0])), name, message: isOwn ? 'is not known here' : message };
}

const strictSchemas = new WeakMap<z.ZodObject, z.ZodObject>();

/**
 * Return the schema that refuses undeclared parameters. Cache it, because zod compiles every new schema at its
 * first use.
 */
function strictly(schema: z.ZodObject): z.ZodObject {
  let strict = strictSchemas.get(schema);
  if (strict === undefined) {
    strict = schema.strict();
    strictSchemas.set(schema, strict);
  }
  return strict;
}

/** Return the allowed values that broken rules over several parameters name (`params.allowed` of their issues). */
function allowedBy({ issues }: z.ZodError): string | undefined {
  const messages = issues.map((issue): unknown =>
    issue.code === 'custom' ? issue.params?.['allowed'] : undefined,
  );
  return messages.find((message) => typeof message === 'string');
}

function faultsOf(error: z.ZodError, { values, placeOf }: Given, taken: readonly string[]): ParameterFault[] {
  const faults = error.issues.flatMap((issue): ParameterFault[] => {
    if (issue.code === 'unrecognized_keys' && issue.path.length === 0)
      return issue.keys.map((name) => unknownParameter(placeOf(name), name, taken));
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownPart(issue, key, placeOf));
    const top = issue.path[0];
    const place = placeOf(top === undefined ? '' : String(top));
    // A query parameter has no parts, even if it is a list.
    const name = (place === 'query' ? issue.path.slice(0, 1) : issue.path).map(String).join('.');
    const isAbsent = typeof top === 'string' && issue.path.length === 1 && !Object.hasOwn(values, top);
    // A rule over several parameters reports missing ones itself.
    const missing = isAbsent && issue.code !== 'custom';
    return [
      { in: place, name: name === '' ? place : name, message: missing ? 'is required' : messageOf(issue) },
    ];
  });
  // One fault for each name: a blank name breaks several rules at once.
  return faults.filter((fault, index) => faults.findIndex(({ name }) => name === fault.name) === index);
}

const types: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};

/** Return the message of an issue. For a value of another type, zod's own words differ between bundles. */
function messageOf(issue: z.core.$ZodIssue): string {
  // A name chosen by the caller, such as the name of a tag.
  if (issue.code === 'invalid_key') return `its name ${issue.issues[0]?.message ?? 'is not allowed'}`;
  const isOwn = issue.code === 'invalid_type' && issue.message.startsWith('Invalid input');
  return isOwn ? `must be ${types[issue.expected] ?? issue.expected}` : issue.message;
}
