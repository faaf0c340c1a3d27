import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadOperations } from '../../../infra/service/endpoints.ts';
import { openApiDocument } from '../../../shared/http/openapi/document.ts';
import { type PublishedOperation, publishedOperations } from './published-operations.ts';

const loaded = await loadOperations(join(import.meta.dirname, '../../../functions'));
const endpoints = loaded.map(({ endpoint }) => endpoint);
const { paths } = openApiDocument(endpoints, {
  title: '',
  version: '',
  description: '',
  tags: [],
  samples: {},
});

/** A path in which neither the names of variables nor a trailing slash matter. */
const form = (path: string): string => path.replace(/\{.+?\}/g, '{}').replace(/\/$/, '');

const endpointOf = ({ method, path }: PublishedOperation) =>
  endpoints.find((one) => one.method === method && form(one.path) === form(path));

const rows = publishedOperations.map(
  (operation) => [`${operation.method} ${operation.path}`, operation] as const,
);

interface Shown {
  name: string;
  in: string;
  required: boolean;
  type: unknown;
}

/** Every parameter and field of a body that an operation takes, as its clients see it. */
function parametersOf({ method, path }: PublishedOperation): Shown[] {
  const operation = paths[path]?.[method.toLowerCase()];
  const shown = (operation?.parameters ?? []).map(({ name, in: place, required, schema }): Shown => {
    return { name, in: place, required, type: schema['type'] };
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into the document
  const schema = (operation?.requestBody as any)?.content?.['application/json']?.schema;
  for (const [name, field] of Object.entries<{ type?: unknown }>(schema?.properties ?? {})) {
    shown.push({ name, in: 'body', required: schema.required?.includes(name) ?? false, type: field.type });
  }
  return shown;
}

test('the interface has 24 operations, and all of them are there', () => {
  expect(publishedOperations).toHaveLength(24);
  expect(rows.filter(([, operation]) => endpointOf(operation) === undefined)).toEqual([]);
});

describe.each(rows)('%s', (_, operation) => {
  const endpoint = endpointOf(operation)!;

  test('has just its published path', () => {
    expect(endpoint.path).toBe(operation.path);
  });

  test('takes the published parameters, and needs no others', () => {
    const given = parametersOf(operation);
    for (const { name, in: place, required, type } of operation.parameters) {
      const places = place === 'fields' ? ['query', 'body'] : [place];
      const found = given.filter((one) => one.name === name && places.includes(one.in));
      expect(found, `${name} in ${place}`).not.toEqual([]);
      // A parameter that may stand in the query or in the body is required in neither of the two alone.
      if (found.length === 1) expect(found[0]).toMatchObject({ required, type });
    }
    const published = operation.parameters.map(({ name }) => name);
    const others = given.filter(({ name, required }) => required && !published.includes(name));
    expect(others).toEqual([]);
  });

  test('answers with the published status', () => {
    const statuses = Object.keys(endpoint.output).filter((status) => status.startsWith('2'));
    expect(statuses).toEqual([String(operation.status)]);
  });

  test('honours X-Fields just where that is published', () => {
    expect(endpoint.fieldsMask ?? false).toBe(operation.fieldsMask);
  });
});

test('no operation beyond the interface honours X-Fields', () => {
  const masked = endpoints
    .filter(({ fieldsMask }) => fieldsMask)
    .map(({ method, path }) => `${method} ${path}`);
  const published = rows.filter(([, { fieldsMask }]) => fieldsMask).map(([name]) => name);
  expect(published).toEqual(expect.arrayContaining(masked));
});
