import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadOperations } from '../../../../infra/service/endpoints.ts';
import { documentText, serviceDocument } from '../../../../infra/service/openapi-document.ts';

// Rules that generators of clients need and do not report. They were found with openapi-generator, openapi-python-client and
// typescript-fetch, and hold for every endpoint that is added.

const endpoints = await loadOperations(join(import.meta.dirname, '../../../../functions'));
// biome-ignore lint/suspicious/noExplicitAny: a test looks into the document
type Json = any;
const document: Json = JSON.parse(documentText(serviceDocument(endpoints)));

const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

/** Content of requests and answers, by where it stands. */
const contents = operations.flatMap(({ name, operation }) =>
  [['body', operation.requestBody], ...Object.entries<Json>(operation.responses)].flatMap(
    ([part, { content } = {}]) =>
      Object.entries<Json>(content ?? {}).map(([type, media]) => ({
        at: `${name} ${part} ${type}`,
        type,
        media,
      })),
  ),
);

interface Found {
  at: string;
  schema: Json;
}

/** A schema and every one in it. Examples hold values, not schemas. */
function schemasIn(schema: Json, at: string): Found[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  const inner: [string, Json][] = [
    ...Object.entries<Json>(properties),
    ['[]', items],
    ['{}', additionalProperties],
    ...[...anyOf, ...oneOf, ...allOf].map((one, index): [string, Json] => [String(index), one]),
  ];
  return [{ at, schema }, ...inner.flatMap(([name, one]) => schemasIn(one, `${at}/${name}`))];
}

const components = Object.entries<Json>(document.components.schemas);
const parameters = operations.flatMap(({ name, operation }) =>
  operation.parameters.map((parameter: Json) => ({ at: `${name} ${parameter.name}`, parameter })),
);
const schemas: Found[] = [
  ...components.flatMap(([name, schema]) => schemasIn(schema, name)),
  ...contents.flatMap(({ at, media }) => schemasIn(media.schema, at)),
  ...parameters.flatMap(({ at, parameter }) => schemasIn(parameter.schema, at)),
];

const breaking = <T extends { at: string }>(all: readonly T[], rule: (one: T) => boolean): string[] =>
  all.filter((one) => !rule(one)).map(({ at }) => at);

test('there is something to check', () => {
  expect(operations.length).toBeGreaterThan(60);
  expect(schemas.length).toBeGreaterThan(500);
});

describe('every schema', () => {
  test('is an object: true and false are known to few', () => {
    const inner = schemas.flatMap(({ at, schema: { items, properties = {} } }) =>
      [items, ...Object.values<Json>(properties)].map((one) => ({ at, one })),
    );
    expect(breaking(inner, ({ one }) => typeof one !== 'boolean')).toEqual([]);
  });

  test('of a list says of what, and no list is a tuple', () => {
    const lists = schemas.filter(({ schema }) => [schema.type].flat().includes('array'));
    expect(lists.length).toBeGreaterThan(50);
    expect(breaking(lists, ({ schema }) => typeof schema.items === 'object')).toEqual([]);
    expect(breaking(schemas, ({ schema }) => !('prefixItems' in schema))).toEqual([]);
  });

  test('has no keyword that generators pass over in silence', () => {
    const words = [
      'not',
      'if',
      'patternProperties',
      'dependentRequired',
      'unevaluatedProperties',
      'contains',
    ];
    expect(breaking(schemas, ({ schema }) => words.every((word) => !(word in schema)))).toEqual([]);
  });
});

describe('every parameter', () => {
  test('has a plain type: a union or constant in a header becomes a class', () => {
    const plain = ['string', 'integer', 'number', 'boolean'];
    const headers = parameters.filter(({ parameter }) => parameter.in === 'header');
    expect(headers.length).toBeGreaterThan(20);
    const isPlain = ({ parameter: { schema } }: (typeof headers)[number]) =>
      plain.includes(schema.type) && !('anyOf' in schema || 'const' in schema || 'enum' in schema);
    expect(breaking(headers, isPlain)).toEqual([]);
  });

  test('has a name of its own in its operation, however it is spelled', () => {
    const spelled = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');
    for (const { name, operation } of operations) {
      const names = operation.parameters.map((parameter: Json) => spelled(parameter.name));
      expect([name, new Set(names).size]).toEqual([name, names.length]);
    }
  });
});

describe('every content', () => {
  test('has a schema that says something', () => {
    expect(breaking(contents, ({ media }) => Object.keys(media.schema ?? {}).length > 0)).toEqual([]);
  });

  test('of a body can be sent by all of them, and is of one type', () => {
    const sent = ['application/json', 'application/octet-stream'];
    const bodies = contents.filter(({ at }) => at.includes(' body '));
    expect(bodies.length).toBeGreaterThan(10);
    expect(breaking(bodies, ({ type }) => sent.includes(type))).toEqual([]);
    const one = operations.filter(({ operation }) => operation.requestBody !== undefined);
    expect(bodies).toHaveLength(one.length);
  });

  test('of an answer has a form that all of them read', () => {
    const read = /^(application\/json|text\/.+|application\/octet-stream)$/;
    for (const { name, operation } of operations) {
      const success = operation.responses['200'] ?? operation.responses['201'];
      expect([name, Object.keys(success.content).some((type) => read.test(type))]).toEqual([name, true]);
    }
  });
});

describe('every field of an answer', () => {
  const inAnswers = schemas.filter(({ at, schema }) => 'properties' in schema && !at.includes(' body '));
  const fieldsOf = ({ schema }: Found) => Object.keys(schema.properties).sort();

  test('is there, though it may be null', () => {
    // Rules are shown in the form in which they are written: with one condition, and without the others as null.
    const isWritten = (at: string) =>
      /\/rules\/\[\](\/rule)?(\/(above|below|no improvement|idle))?$/.test(at);
    // A line of a log says where it is in a search alone: a page may have ten thousand lines.
    const isLine = (at: string) => at.includes('/logs 200 application/json/[]');
    const whole = inAnswers.filter(({ at }) => !/^\w+Masked\b/.test(at) && !isWritten(at) && !isLine(at));
    expect(whole.length).toBeGreaterThan(100);
    const isWhole = (one: Found) => [...(one.schema.required ?? [])].sort().join() === fieldsOf(one).join();
    expect(breaking(whole, isWhole)).toEqual([]);
  });

  test('may be left out by a mask, whose answers are a schema beside that of the whole', () => {
    const masked = inAnswers.filter(({ at }) => /^\w+Masked\b/.test(at));
    expect(masked.length).toBeGreaterThan(4);
    expect(breaking(masked, ({ schema }) => !('required' in schema))).toEqual([]);
    for (const { name, operation } of operations) {
      const takesMask = operation.parameters.some((parameter: Json) =>
        ['X-Fields', 'fields'].includes(parameter.name),
      );
      const { anyOf = [] } = operation.responses['200']?.content['application/json']?.schema ?? {};
      const hasMasked = anyOf.some(({ $ref = '' }) => $ref.endsWith('Masked'));
      expect([name, hasMasked]).toEqual([name, takesMask]);
    }
  });
});

test('every operation has an id that is a name in any language', () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z][a-zA-Z0-9]*$/);
});
