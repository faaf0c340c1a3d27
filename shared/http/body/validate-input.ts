import type * as z from 'zod';
import type * as core from 'zod/v4/core';
import { badRequest, faultsOf, type ParameterFault, type ParameterPlace } from '../../core/service-error.ts';
import { illFormed, isWellFormed } from '../../core/text/well-formed.ts';
import { HttpError } from '../answer/http-error.ts';
import { bodyMaxBytes, type File, type RawRequest } from '../definition/endpoint-input.ts';
import type { AnyEndpoint, Exchange, Middleware } from '../definition/middleware.ts';
import { parseMaskOfRequest } from '../fields-mask/fields-mask.ts';
import { alternativesOf } from '../fields-mask/schema-shape.ts';
import { type Event, headerLines, headerOf } from '../pipeline/proxy-event.ts';
import {
  checkBodySize,
  type RawFields,
  readFields,
  readFile,
  refuseBody,
  singleValues,
} from './parse-body.ts';
import { type Given, type Part, parsePart, type Values } from './parse-part.ts';
import { decodePathVariable, notUtf8 } from './percent-encoding.ts';

/** Parse path, query and body, and report all faults at once. */
export const parseInput: Middleware = (exchange) => {
  const { endpoint, event } = exchange;
  const { input } = endpoint;
  const unparsed = { path: undefined, query: undefined, queryOrBody: undefined, body: undefined };
  if (input.request !== undefined) {
    exchange.input = { ...unparsed, request: readRawRequest(exchange, input.request.maxBytes) };
    return;
  }
  const inQuery = queryPairs(event);
  const sent = singleValues(inQuery, 'query', listsIn(input.query));
  const inPath = readPath(exchange);
  const { fields, file } = readBody(exchange);
  const isReadable = fields.faults.length === 0;
  const split = splitQueryAndBody(input.queryOrBody, sent.values, fields.values);
  const alsoTaken = Object.keys(input.queryOrBody?.shape ?? {});

  const path = input.path
    ? parsePart(input.path, { values: inPath.values, placeOf: () => 'path' })
    : nothing({});
  const query = parsePart(input.query, { values: split.query, placeOf: () => 'query', alsoTaken });
  // If the body cannot be read, its missing parameters are not known.
  const queryOrBody = isReadable ? parsePart(input.queryOrBody, split.queryOrBody) : nothing();
  const schema = input.body?.kind === 'fields' ? input.body.schema : undefined;
  const body = isReadable
    ? parsePart(schema, { values: split.body, placeOf: () => 'body', alsoTaken })
    : nothing();
  const unreadable = [
    ...inPath.faults,
    ...illFormedFaults('path', Object.entries(inPath.values)),
    ...illFormedFaults('query', inQuery),
    ...illFormedFaults('header', headerPairs(event)),
    ...illFormedFaults('body', Object.entries(fields.values)),
  ];
  const others = [
    ...path.faults,
    ...sent.faults,
    ...query.faults,
    ...split.faults,
    ...queryOrBody.faults,
    ...fields.faults,
    ...body.faults,
    ...ifMatchFaults(event),
    ...ifNoneMatchFaults(exchange),
    ...idempotencyKeyFaults(endpoint, event),
  ];
  if (unreadable.length > 0 || others.length > 0) {
    const maskFaults = faultsOf(() => parseMaskOfRequest(exchange));
    throw badRequest(firstOfEach([...others, ...maskFaults], unreadable), query.allowed);
  }
  const bodyValue = file ?? (schema === undefined ? undefined : body.value);
  exchange.input = {
    path: path.value,
    query: query.value,
    queryOrBody: queryOrBody.value,
    body: bodyValue,
    request: undefined,
  };
};

const methods = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'] as const satisfies RawRequest['method'][];

/**
 * Return the whole request for an endpoint that does its own routing.
 * @throws ServiceError `too-large`
 */
function readRawRequest({ event }: Exchange, maxBytes: number): RawRequest {
  checkBodySize(event, maxBytes);
  const { bytes } = readFile(event, { mediaTypes: ['*/*'] });
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
    for (const value of values ?? []) query.append(name, value);
  }
  const method = methods.find((one) => one === event.httpMethod);
  if (method === undefined) {
    const allowed = methods.join(', ');
    throw new HttpError(
      'method-not-allowed',
      `This path does not support ${event.httpMethod}. Allowed: ${allowed}.`,
      {
        Allow: allowed,
      },
    );
  }
  const [path = ''] = Object.values(event.pathParameters ?? {});
  return { method, path, query, mediaType: headerOf(event, 'content-type') ?? '', bytes };
}

function queryPairs(event: Event): [string, string[]][] {
  const several = Object.entries(event.multiValueQueryStringParameters ?? {});
  if (several.length > 0) return several.map(([name, values]) => [name, values ?? []]);
  return Object.entries(event.queryStringParameters ?? {}).map(([name, value]) => [
    name,
    value === undefined ? [] : [value],
  ]);
}

/** Parameters that may be given several times. */
function listsIn(query: z.ZodObject | undefined): Set<string> {
  const shape = Object.entries<core.$ZodType>(query?.shape ?? {});
  const isList = (schema: core.$ZodType): boolean =>
    alternativesOf(schema).some(({ shape: { kind } }) => kind === 'list');
  return new Set(shape.filter(([, schema]) => isList(schema)).map(([name]) => name));
}

const variable = /^\{(.+?)\+?\}$/;

/**
 * Return the decoded path parameters by their published names. API Gateway requires one name for sibling variables
 * (`/users/{user_id}` and `/users/{username}`), so routes name variables by position, and this function maps
 * positions to names.
 */
function readPath({ endpoint, event }: Exchange): RawFields {
  const published = endpoint.path.split('/');
  const routed = event.resource.split('/');
  const values: Values = {};
  const faults: ParameterFault[] = [];
  for (const [position, segment] of published.entries()) {
    const name = variable.exec(segment)?.[1];
    const routedName = variable.exec(routed[position] ?? '')?.[1];
    if (name === undefined || routedName === undefined) continue;
    const sent = event.pathParameters?.[routedName];
    if (sent === undefined) continue;
    const value = decodePathVariable(sent);
    if (value === undefined) faults.push({ in: 'path', name, message: notUtf8 });
    values[name] = value ?? sent;
  }
  return { values, faults };
}

interface Body {
  fields: RawFields;
  file?: File;
}

function readBody({ endpoint: { input }, event }: Exchange): Body {
  checkBodySize(event, bodyMaxBytes(input));
  if (input.body?.kind === 'file') {
    return { fields: { values: {}, faults: [] }, file: readFile(event, input.body) };
  }
  if (input.body !== undefined || input.queryOrBody !== undefined)
    return { fields: readFields(event, input.body) };
  return { fields: { values: {}, faults: event.httpMethod === 'GET' ? [] : refuseBody(event) } };
}

interface Split {
  queryOrBody: Given;
  /** The parameters left in the query and in the body. */
  query: Values;
  body: Values;
  /** Parameters that were given in both. */
  faults: ParameterFault[];
}

/**
 * Extract the parameters of `schema`. Each may be in the query or in the body. Report a missing one in the body if
 * there is a body, else in the query.
 */
function splitQueryAndBody(schema: z.ZodObject | undefined, query: Values, body: Values): Split {
  const isTaken = (name: string): boolean => schema !== undefined && Object.hasOwn(schema.shape, name);
  const [inQuery, inBody] = [partition(query, isTaken), partition(body, isTaken)];
  const twice = Object.keys(inQuery.taken).filter((name) => Object.hasOwn(inBody.taken, name));
  const otherwise = Object.keys(body).length > 0 ? 'body' : 'query';
  return {
    queryOrBody: {
      values: { ...inQuery.taken, ...inBody.taken },
      placeOf: (name) => (Object.hasOwn(inQuery.taken, name) ? 'query' : otherwise),
    },
    query: inQuery.left,
    body: inBody.left,
    faults: twice.map((name) => ({
      in: 'query',
      name,
      message: 'is given in the query and in the body; give it once',
    })),
  };
}

function partition(values: Values, isTaken: (name: string) => boolean): { taken: Values; left: Values } {
  const entries = Object.entries(values);
  return {
    taken: Object.fromEntries(entries.filter(([name]) => isTaken(name))),
    left: Object.fromEntries(entries.filter(([name]) => !isTaken(name))),
  };
}

const nothing = (value?: unknown): Part => ({ value, faults: [] });

/** Return the faults of parameters whose names or values contain a lone surrogate. */
function illFormedFaults(
  place: ParameterPlace,
  parameters: Iterable<readonly [string, unknown]>,
): ParameterFault[] {
  const names = [...parameters].filter((pair) => !isWellFormed(pair)).map(([name]) => name.toWellFormed());
  return [...new Set(names)].map((name) => ({ in: place, name, message: illFormed }));
}

const headerPairs = ({ headers, multiValueHeaders }: Event): [string, unknown][] => [
  ...Object.entries(headers ?? {}),
  ...Object.entries(multiValueHeaders ?? {}),
];

const entityTag = /^(?:W\/)?"(\d{1,15})-[A-Za-z0-9_-]+"$/;

function ifMatchFaults(event: Event): ParameterFault[] {
  const given = headerOf(event, 'if-match');
  if (given === undefined || given === '*' || entityTag.test(given)) return [];
  return [{ in: 'header', name: 'If-Match', message: 'must be the ETag of an earlier response' }];
}

/**
 * On a PUT, the header can only require that the record does not exist (`*`). Refuse any other condition, because
 * nothing would check it.
 */
function ifNoneMatchFaults({ endpoint, event }: Exchange): ParameterFault[] {
  const given = endpoint.method === 'PUT' ? headerOf(event, 'if-none-match') : undefined;
  if (given === undefined || given.trim() === '*') return [];
  return [{ in: 'header', name: 'If-None-Match', message: 'must be *' }];
}

/** Printable ASCII. */
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/**
 * Return the faults of a request's `Idempotency-Key`. Signing in and out accepts no key, because the response kept
 * for a key must never contain a token. An endpoint that creates nothing ignores the header.
 */
export function idempotencyKeyFaults(
  { path, idempotent }: Pick<AnyEndpoint, 'path' | 'idempotent'>,
  event: Event,
): ParameterFault[] {
  const [key, ...more] = headerLines(event, 'idempotency-key');
  if (key === undefined) return [];
  const fault = (message: string): ParameterFault[] => [{ in: 'header', name: 'Idempotency-Key', message }];
  if (path.startsWith('/auth/'))
    return fault('is not allowed here, because responses with a token are not stored');
  if (idempotent === undefined || (more.length === 0 && keyPattern.test(key))) return [];
  return fault('must be given once, as 1 to 255 printable ASCII characters');
}

/** Return one fault per parameter. For a parameter that cannot be decoded, report only that. */
function firstOfEach(
  faults: readonly ParameterFault[],
  unreadable: readonly ParameterFault[],
): ParameterFault[] {
  const names = new Set(unreadable.map((fault) => `${fault.in} ${fault.name}`));
  return [...unreadable, ...faults.filter((fault) => !names.has(`${fault.in} ${fault.name.toWellFormed()}`))];
}

/** Return the version in `If-Match`; undefined without the header or with `*`. */
export function expectedVersion(event: Event): number | undefined {
  const version = entityTag.exec(headerOf(event, 'if-match') ?? '')?.[1];
  return version === undefined ? undefined : Number(version);
}
