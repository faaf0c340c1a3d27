import {
  type DocumentedOperation,
  documentedOperations,
  type Request,
  type RequestField,
  withField,
} from '../../support/documented-operations.ts';
import type { Tried } from './worst-requests.ts';

/** Pieces that parsers go back over: a text is many of them, with and without an end that does not fit. */
const pieces = [
  'a',
  ' ',
  '(',
  '[',
  '{',
  '"',
  '\\',
  '%_',
  ',',
  'a.',
  '../',
  '1',
  '-',
  'a=1 and ',
  'é',
  '\n',
  '${a',
  '*[',
  '<a ',
];
const ends = ['', '!'];

/** What one pair of texts holds: each is easy alone. */
const pairs: readonly (readonly [string, string])[] = [
  ['a', 'a'],
  ['%a', 'a'],
  ['{a}', 'a'],
  ['a,', 'a,'],
  ['(a', 'a'],
];

/** Operations that end a session, delete or start what the others need; their refusals are drawn nevertheless. */
const endsWorld = /^(delete|mark|transfer|revoke|change|cancelExperiments|deleteSession)/;

/**
 * Requests to each operation of the document: each text at its largest, of each piece; each list and open object with as
 * many members as it may have; and each pair of texts.
 */
export function drawnRequests(variables: Readonly<Record<string, string>>): Tried[] {
  return documentedOperations()
    .filter(({ name }) => !endsWorld.test(name))
    .flatMap((operation) => [...single(operation, variables), ...paired(operation, variables)]);
}

function single(operation: DocumentedOperation, variables: Readonly<Record<string, string>>): Tried[] {
  const { example, fields } = operation;
  return fields.flatMap((field) => {
    const name = field.path.join('.');
    if (field.schema.items !== undefined || field.schema.additionalProperties !== undefined) {
      const members = manyMembers(example, field);
      return members === undefined ? [] : [tried(operation, members, `${name}: many members`, variables)];
    }
    return pieces.flatMap((piece) =>
      ends.map((end) => {
        const value = text(piece, lengthOf(field)) + end;
        return tried(
          operation,
          withField(example, field, value),
          `${name}: ${JSON.stringify(piece)}…${end}`,
          variables,
        );
      }),
    );
  });
}

function paired(operation: DocumentedOperation, variables: Readonly<Record<string, string>>): Tried[] {
  const { example, fields } = operation;
  const texts = fields.filter(({ schema }) => schema.type === 'string');
  return texts.flatMap((one, at) =>
    texts.slice(at + 1).flatMap((other) =>
      pairs.map(([first, second]) => {
        const half = (field: RequestField) => Math.floor(lengthOf(field) / (field.in === 'body' ? 1 : 2));
        const request = withField(
          withField(example, one, text(first, half(one))),
          other,
          text(second, half(other)),
        );
        return tried(
          operation,
          request,
          `${one.path.join('.')} and ${other.path.join('.')}: ${first}, ${second}`,
          variables,
        );
      }),
    ),
  );
}

/** The head of a request has 10 KB, and a text of a query takes up to three bytes for a character. */
const mostOfHead = 3000;
const mostOfBody = 100_000;

const lengthOf = ({ in: place, schema }: RequestField): number =>
  Math.min(schema.maxLength ?? Number.POSITIVE_INFINITY, place === 'body' ? mostOfBody : mostOfHead);

const text = (piece: string, length: number): string =>
  piece.repeat(Math.max(1, Math.floor(length / piece.length)));

function manyMembers(example: Request, field: RequestField): Request | undefined {
  const { items, maxItems, additionalProperties } = field.schema;
  if (items !== undefined) {
    const [first] = listIn(field.in === 'query' ? example.query : example.body, field.path);
    const count = Math.min(maxItems ?? Number.POSITIVE_INFINITY, field.in === 'query' ? 200 : 5000);
    return withField(
      example,
      field,
      Array.from({ length: count }, () => first ?? 'a'),
    );
  }
  if (additionalProperties === false) return undefined;
  return withField(
    example,
    field,
    Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 'a'])),
  );
}

function listIn(whole: unknown, path: RequestField['path']): readonly unknown[] {
  let inner = whole;
  for (const name of path)
    inner = typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined;
  return Array.isArray(inner) ? inner : [];
}

function tried(
  { name, method, path }: DocumentedOperation,
  { query, headers, body }: Request,
  what: string,
  variables: Readonly<Record<string, string>>,
): Tried {
  const entries = Object.entries(query).flatMap(([key, value]) =>
    [value].flat().map((one): [string, string] => [key, String(one)]),
  );
  // A header holds one line of Latin letters.
  const printable = Object.entries(headers).map(([key, value]) => [key, value.replace(/[^\x20-\x7e]/g, '?')]);
  return {
    operation: name,
    what,
    method,
    path: `${path.replace(/\{(\w+)\+?\}/g, (_, key: string) => encodeURIComponent(variables[key] ?? 'a'))}?${new URLSearchParams(entries)}`,
    headers: {
      ...Object.fromEntries(printable),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
}
