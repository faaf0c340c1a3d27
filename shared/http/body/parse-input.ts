import type * as z from 'zod';
import type * as core from 'zod/v4/core';
import { badRequest, faultsOf, type ParameterFault } from '../../core/service-error.ts';
import type { File } from '../definition/endpoint-input.ts';
import type { Before, Exchange } from '../definition/exchange.ts';
import { parseMaskOfRequest } from '../fields-mask/fields-mask.ts';
import { alternativesOf } from '../fields-mask/schema-shape.ts';
import { type Event, headerOf } from '../pipeline/proxy-event.ts';
import { bodyMaxBytes } from './body-max-bytes.ts';
import { idempotencyKeyFaults } from './idempotency-key.ts';
import { illFormedFaults } from './ill-formed.ts';
import {
  checkBodySize,
  type RawFields,
  readFields,
  readFile,
  refuseBody,
  singleValues,
} from './parse-body.ts';
import { type Part, parsePart } from './parse-part.ts';
import { readPath } from './read-path.ts';
import { readRawRequest } from './read-raw-request.ts';
import { splitQueryAndBody } from './split-query-and-body.ts';

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
    return { fields: readFields(event, input.body?.lines) };
  return { fields: { values: {}, faults: event.httpMethod === 'GET' ? [] : refuseBody(event) } };
}

const nothing = (value?: unknown): Part => ({ value, faults: [] });

const headerPairs = ({ headers, multiValueHeaders }: Event): [string, unknown][] => [
  ...Object.entries(headers ?? {}),
  ...Object.entries(multiValueHeaders ?? {}),
];

/** One fault for each parameter: what else is wrong with one that cannot be read is of no use to anybody. */
function firstOfEach(
  faults: readonly ParameterFault[],
  unreadable: readonly ParameterFault[],
): ParameterFault[] {
  const names = new Set(unreadable.map((fault) => `${fault.in} ${fault.name}`));
  return [...unreadable, ...faults.filter((fault) => !names.has(`${fault.in} ${fault.name.toWellFormed()}`))];
}

/** Parses everything that was sent and names every fault at once. */
export const parseInput: Before = (exchange) => {
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
  // Where the body cannot be read nobody knows what is missing.
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

const entityTag = /^(?:W\/)?"(\d{1,15})-[A-Za-z0-9_-]+"$/;

function ifMatchFaults(event: Event): ParameterFault[] {
  const given = headerOf(event, 'if-match');
  if (given === undefined || given === '*' || entityTag.test(given)) return [];
  return [{ in: 'header', name: 'If-Match', message: 'must be the ETag of an earlier response' }];
}

/** With a change the header can only ask for nothing to be there; a condition that nobody checks is not taken. */
function ifNoneMatchFaults({ endpoint, event }: Exchange): ParameterFault[] {
  const given = endpoint.method === 'PUT' ? headerOf(event, 'if-none-match') : undefined;
  if (given === undefined || given.trim() === '*') return [];
  return [{ in: 'header', name: 'If-None-Match', message: 'must be *' }];
}

/** Version that `If-Match` names; undefined without the header or with `*`. */
export function expectedVersion(event: Event): number | undefined {
  const version = entityTag.exec(headerOf(event, 'if-match') ?? '')?.[1];
  return version === undefined ? undefined : Number(version);
}
