import type * as z from 'zod';
import { type Before, type Event, type Exchange, headerOf } from './exchange.ts';
import { idempotencyKeyFaults } from './idempotency-key.ts';
import { readFields, readFile, refuseBody, singleValues } from './parse-body.ts';
import { badRequest, type ParameterFault, type ParameterPlace } from './problem.ts';

type Values = Record<string, unknown>;

/** Message for a parameter that an operation does not have. */
function unknownParameter(place: ParameterPlace, name: string, schema: z.ZodObject): ParameterFault {
  if (name === 'password' && place === 'query') {
    return {
      in: place,
      name,
      message: 'must not be in the address, which is logged everywhere: send it as JSON or form',
    };
  }
  const allowed = Object.keys(schema.shape);
  const known = allowed.length === 0 ? 'there are none' : `allowed are ${allowed.join(', ')}`;
  return { in: place, name, message: `is not a parameter of this operation; ${known}` };
}

function faultsOf(
  error: z.ZodError,
  place: ParameterPlace,
  values: Values,
  schema: z.ZodObject,
): ParameterFault[] {
  return error.issues.flatMap((issue): ParameterFault[] => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((name) => unknownParameter(place, name, schema));
    const name = issue.path.map(String).join('.');
    const top = issue.path[0];
    const missing = typeof top === 'string' && issue.path.length === 1 && !Object.hasOwn(values, top);
    return [
      { in: place, name: name === '' ? place : name, message: missing ? 'is required' : issue.message },
    ];
  });
}

interface Part {
  value: unknown;
  faults: ParameterFault[];
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

function parsePart(schema: z.ZodObject, place: ParameterPlace, values: Values): Part {
  const parsed = strictly(schema).safeParse(values);
  if (parsed.success) return { value: parsed.data, faults: [] };
  return { value: undefined, faults: faultsOf(parsed.error, place, values, schema) };
}

const variable = /^\{(.+?)\+?\}$/;

/**
 * Path parameters under their published names. API Gateway demands one name for sibling variables
 * (`/users/{user_id}` and `/users/{username}`), so routes name them by position: what matters is where they stand
 * in the route.
 */
function pathValues({ endpoint, event }: Exchange): Values {
  const published = endpoint.path.split('/');
  const routed = event.resource.split('/');
  const pairs = published.flatMap((segment, position): [string, unknown][] => {
    const name = variable.exec(segment)?.[1];
    const routedName = variable.exec(routed[position] ?? '')?.[1];
    return name === undefined || routedName === undefined ? [] : [[name, event.pathParameters?.[routedName]]];
  });
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

function queryPairs(event: Event): [string, string[]][] {
  const several = Object.entries(event.multiValueQueryStringParameters ?? {});
  if (several.length > 0) return several.map(([name, values]) => [name, values ?? []]);
  return Object.entries(event.queryStringParameters ?? {}).map(([name, value]) => [
    name,
    value === undefined ? [] : [value],
  ]);
}

function parseQuery({ endpoint, event }: Exchange): Part {
  const { values, faults } = singleValues(queryPairs(event), 'query');
  const schema = endpoint.input.query;
  if (schema !== undefined) {
    const part = parsePart(schema, 'query', values);
    return { value: part.value, faults: [...faults, ...part.faults] };
  }
  const message = 'is not a parameter of this operation; there are none in the query';
  const unknown = Object.keys(values).map((name): ParameterFault => ({ in: 'query', name, message }));
  return { value: {}, faults: [...faults, ...unknown] };
}

function parseBody({ endpoint, event }: Exchange): Part {
  const spec = endpoint.input.body;
  if (spec === undefined)
    return { value: undefined, faults: event.httpMethod === 'GET' ? [] : refuseBody(event) };
  if (spec.kind === 'file') return { value: readFile(event, spec), faults: [] };
  const { values, faults } = readFields(event, spec);
  if (faults.length > 0) return { value: undefined, faults };
  return parsePart(spec.schema, 'body', values);
}

/** Parses everything that was sent and names every fault at once. */
export const parseInput: Before = (exchange) => {
  const schema = exchange.endpoint.input.path;
  const path =
    schema === undefined ? { value: {}, faults: [] } : parsePart(schema, 'path', pathValues(exchange));
  const query = parseQuery(exchange);
  const body = parseBody(exchange);
  const faults = [
    ...path.faults,
    ...query.faults,
    ...body.faults,
    ...ifMatchFaults(exchange.event),
    ...idempotencyKeyFaults(exchange.endpoint, exchange.event),
  ];
  if (faults.length > 0) throw badRequest(faults);
  exchange.input = { path: path.value, query: query.value, body: body.value };
};

const entityTag = /^(?:W\/)?"(\d{1,15})-[A-Za-z0-9_-]+"$/;

function ifMatchFaults(event: Event): ParameterFault[] {
  const given = headerOf(event, 'if-match');
  if (given === undefined || given === '*' || entityTag.test(given)) return [];
  return [{ in: 'header', name: 'If-Match', message: 'must be the ETag of an earlier answer' }];
}

/** Version that `If-Match` names; undefined without the header or with `*`. */
export function expectedVersion(event: Event): number | undefined {
  const version = entityTag.exec(headerOf(event, 'if-match') ?? '')?.[1];
  return version === undefined ? undefined : Number(version);
}
