import { samples } from '../../../infra/service/document-samples.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import type { Call } from '../service.ts';

/** Where one hostile string goes, while all else is as it should be. */
export interface Field {
  place: 'path' | 'query' | 'body' | 'header';
  name: string;
}

/** Values that are as they should be, by the name of their parameter. */
export type Valid = Readonly<Record<string, string>>;

const namesOf = (schema: { shape: object } | undefined): string[] => Object.keys(schema?.shape ?? {});

function bodyNames({ input: { body, queryOrBody } }: AnyEndpoint): string[] {
  return [...(body?.kind === 'fields' ? namesOf(body.schema) : []), ...namesOf(queryOrBody)];
}

function headerNames({ fieldsMask, idempotent, etag, method }: AnyEndpoint): string[] {
  return [
    ...(fieldsMask === true ? ['X-Fields'] : []),
    ...(idempotent === undefined ? [] : ['Idempotency-Key']),
    ...(etag === true && method !== 'POST' ? ['If-Match', 'If-None-Match'] : []),
  ];
}

/** Everything that a caller can put a string into, from the endpoint's own definition. */
export function fieldsOf(endpoint: AnyEndpoint): Field[] {
  const { path, query } = endpoint.input;
  const places = { path: namesOf(path), query: namesOf(query), body: bodyNames(endpoint) };
  return [
    ...Object.entries({ ...places, header: headerNames(endpoint) }).flatMap(([place, names]) =>
      names.map((name) => ({ place: place as Field['place'], name })),
    ),
  ];
}

function valuesFor(names: readonly string[], valid: Valid, place: Field['place'], hostile: Hostile) {
  // A URL's path cannot hold half a character.
  const text = place === 'path' ? hostile.text.toWellFormed() : hostile.text;
  const pairs = names.map((name): [string, string] => [
    name,
    hostile.goesTo({ place, name }) ? text : (valid[name] ?? String(samples[name] ?? 'x')),
  ]);
  return Object.fromEntries(pairs);
}

interface Hostile {
  text: string;
  goesTo(field: Field): boolean;
}

const optional = (schema: { shape: object } | undefined, name: string): boolean => {
  const shape = schema?.shape as Record<string, { safeParse(value: unknown): { success: boolean } }>;
  return shape[name]?.safeParse(undefined).success === true;
};

/** A call with the text in every field that `hostile` names, and what is required elsewhere. */
function callOf(endpoint: AnyEndpoint, valid: Valid, hostile: Hostile): Call {
  const { path, query, body } = endpoint.input;
  const wanted = (place: Field['place'], schema: { shape: object } | undefined) =>
    namesOf(schema).filter((name) => hostile.goesTo({ place, name }) || !optional(schema, name));
  const headers = Object.fromEntries(
    ['X-Fields', 'Idempotency-Key', 'If-Match', 'If-None-Match']
      .filter((name) => hostile.goesTo({ place: 'header', name }))
      .map((name) => [name, hostile.text]),
  );
  const call = {
    path: valuesFor(namesOf(path), valid, 'path', hostile),
    query: valuesFor(wanted('query', query), valid, 'query', hostile),
  };
  const isFile = body?.kind === 'file';
  if (isFile) return { ...call, headers, body: hostile.text };
  const names = bodyNames(endpoint);
  if (names.length === 0) return { ...call, headers };
  const json = { ...headers, 'Content-Type': 'application/json' };
  return { ...call, headers: json, body: JSON.stringify(valuesFor(names, valid, 'body', hostile)) };
}

/** The text in one field, with everything else as it should be: it gets as far as any request can. */
export const intoOne = (endpoint: AnyEndpoint, valid: Valid, field: Field, text: string): Call =>
  callOf(endpoint, valid, {
    text,
    goesTo: ({ place, name }) => place === field.place && name === field.name,
  });

/** The text in every field there is, and as the name of one more in the query. */
export function intoAll(endpoint: AnyEndpoint, text: string): Call {
  const call = callOf(endpoint, {}, { text, goesTo: () => true });
  return {
    ...call,
    query: new URLSearchParams([...new URLSearchParams(call.query), [text, text]]).toString(),
  };
}
