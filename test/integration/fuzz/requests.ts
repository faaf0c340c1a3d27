import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { bodyFields, fileBody, queryParameters } from '../../../shared/http/openapi/facts.ts';
import { type JsonSchema, toJsonSchema } from '../../../shared/http/openapi/json-schema.ts';
import fc from '../../support/seeded-fast-check.ts';
import type { Call } from '../../support/service.ts';
import { hostileBytes, hostileHeader, hostileSegment, hostileText } from './hostile.ts';

/** Values by name of parameter that mean something to the service at this moment. */
export type Known = Readonly<Record<string, readonly string[]>>;

type Fields = Record<string, unknown>;

/** What the arbitrary makes, once in so many times. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>, times: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const ofSchema = (schema: JsonSchema): fc.Arbitrary<unknown> => {
  const { type, enum: values, minimum, maximum } = schema;
  if (Array.isArray(values)) return fc.constantFrom(...values);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer' || type === 'number') {
    const least = typeof minimum === 'number' ? Math.ceil(minimum) : 0;
    return fc.integer({ min: least, max: typeof maximum === 'number' ? maximum : 100 });
  }
  if (typeof schema['pattern'] === 'string' && schema['pattern'].includes('{64}')) {
    return fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
  }
  return fc.string({ minLength: 1, maxLength: 20 });
};

function parameterValue(name: string, schema: JsonSchema, known: Known): fc.Arbitrary<unknown> {
  const good = known[name] ?? [];
  return fc.oneof(
    { weight: good.length > 0 ? 6 : 0, arbitrary: fc.constantFrom(...good, '') },
    { weight: 4, arbitrary: ofSchema(schema) },
    { weight: 2, arbitrary: hostileText },
  );
}

/** Fields of an object schema: those that are required nearly always, the others now and then, seldom one too many. */
function fieldsOf(object: ReturnType<typeof bodyFields>, known: Known): fc.Arbitrary<Fields> {
  const { properties, required } = object === undefined ? {} : toJsonSchema(object, 'input', new Map());
  const needed = Array.isArray(required) ? required : [];
  const entries = Object.entries(properties ?? {}).map(([name, schema]) => {
    const value = parameterValue(name, schema, known);
    return [name, fc.option(value, { nil: undefined, freq: needed.includes(name) ? 15 : 1 })] as const;
  });
  const extra = seldom(fc.tuple(hostileText, hostileText), 8);
  return fc.tuple(fc.record(Object.fromEntries(entries)), extra).map(([fields, more]) => {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    return Object.fromEntries(more === undefined ? given : [...given, more]);
  });
}

const asQuery = (fields: Fields): string =>
  new URLSearchParams(
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
  ).toString();

interface Sent {
  type: string | undefined;
  body: string | Uint8Array;
}

function bodyOf(endpoint: AnyEndpoint, known: Known): fc.Arbitrary<Sent> {
  const fields = bodyFields(endpoint);
  const type = fc.constantFrom(
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'image/png',
    '*/*',
    '',
  );
  const noise = fc.record({ type, body: hostileBytes });
  const nothing = fc.constant({ type: undefined, body: '' });
  if (fields !== undefined) {
    const json = fieldsOf(fields, known).map((value) => ({
      type: 'application/json',
      body: JSON.stringify(value),
    }));
    const typed = fc.record({ type: fc.constant('application/json'), body: fc.json() });
    const form = fieldsOf(fields, known).map((value) => ({
      type: 'application/x-www-form-urlencoded',
      body: asQuery(value),
    }));
    return fc.oneof({ weight: 6, arbitrary: json }, { weight: 3, arbitrary: form }, typed, noise, nothing);
  }
  const file = fileBody(endpoint);
  if (file === undefined)
    return fc.oneof({ weight: 12, arbitrary: nothing }, { weight: 1, arbitrary: noise });
  const contents = fc.oneof(fc.constantFrom(...(known['file'] ?? ['a: 1'])), hostileBytes);
  const files = fc.record({ type: fc.constantFrom(...file.mediaTypes), body: contents });
  return fc.oneof({ weight: 6, arbitrary: files }, noise, nothing);
}

const header = (every: number, ...good: readonly [string, ...string[]]) =>
  seldom(fc.oneof(fc.constantFrom(...good), hostileHeader), every);

const headersOf: fc.Arbitrary<Record<string, string>> = fc
  .record({
    'If-Match': header(5, '*', '"1-a"', '"2-a"'),
    'If-None-Match': header(5, '*', '"1-a"'),
    'X-Fields': header(3, '*', '{project_id}', 'owner,missing', 'project_id{a}'),
    'Idempotency-Key': header(5, 'one', 'two'),
    Accept: header(3, 'image/svg+xml', 'text/plain', '*/*', 'application/json;q=0', 'text/vnd.mermaid'),
    Authorization: header(25, 'Bearer', 'Basic YTpi'),
    'X-Forwarded-For': header(20, '127.0.0.1'),
  })
  .map((headers) => {
    const given = Object.entries(headers);
    return Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  });

/** Requests to an endpoint, from its definition: good, nearly good and hostile ones. */
export function requestsTo(endpoint: AnyEndpoint, known: Known): fc.Arbitrary<Omit<Call, 'as'>> {
  const names = [...endpoint.path.matchAll(/\{(.+?)\+?\}/g)].map(([, name]) => name ?? '');
  const path = Object.fromEntries(
    names.map((name) => {
      const good = known[name] ?? [];
      const segment = { weight: 1, arbitrary: hostileSegment };
      return [
        name,
        good.length === 0
          ? hostileSegment
          : fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...good) }, segment),
      ];
    }),
  );
  const query = fc.oneof(
    { weight: 12, arbitrary: fieldsOf(queryParameters(endpoint), known).map(asQuery) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('a', '&&', 'a=1&a=2', '%', '%ff%fe', '=', 'limit=1&limit=2', '__proto__=1'),
    },
  );
  return fc
    .record({ path: fc.record(path), query, headers: headersOf, sent: bodyOf(endpoint, known) })
    .map(({ sent, headers, ...rest }) => ({
      ...rest,
      headers: sent.type === undefined ? headers : { ...headers, 'Content-Type': sent.type },
      body: sent.body,
    }));
}
