import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import kept from '../../../../functions/service/openapi.json' with { type: 'json' };
import { loadEndpoints } from '../../../../infra/service/endpoints.ts';
import { serviceDocument } from '../../../../infra/service/openapi-document.ts';
import { jsonOf } from '../../../../shared/http/openapi/responses.ts';

const all = await loadEndpoints(join(import.meta.dirname, '../../../../functions'));
/** The proxy of served models states its operations; that of MLflow has none here. */
const loaded = all.flatMap((one) => {
  const { operations = [], method } = one.endpoint;
  return method === 'ANY' ? operations.map((endpoint) => ({ ...one, endpoint })) : [one];
});
const document = serviceDocument(all);
const json = JSON.parse(JSON.stringify(document));

function* within(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { ...value };
  for (const inner of Object.values(value)) yield* within(inner);
}

test('the kept document is that of the definitions: else run "npm run openapi"', () => {
  expect(kept).toEqual(json);
});

test('the order in which endpoints are loaded does not matter', () => {
  expect(JSON.stringify(serviceDocument(all.toReversed()))).toBe(JSON.stringify(document));
});

test('every reference leads somewhere, and every component is referred to', () => {
  const refs = new Set([...within(json)].flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : [])));
  for (const ref of refs) {
    const found = ref
      .slice(2)
      .split('/')
      .reduce((value, key) => value?.[key], json);
    expect(found, ref).toBeTypeOf('object');
  }
  const schemas = Object.keys(json.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect(schemas.filter((ref) => !refs.has(ref))).toEqual([]);
  expect(schemas.length).toBeGreaterThan(5);
});

const operations = loaded.map(({ endpoint }) => {
  const path = endpoint.path.replace('+}', '}');
  return [endpoint.name, endpoint, json.paths[path]?.[endpoint.method.toLowerCase()]] as const;
});

describe.each(operations)('%s', (name, endpoint, operation) => {
  test('stands under its method and path', () => {
    expect(operation.operationId).toBe(name);
    expect(operation.summary).toBe(endpoint.summary);
    expect(operation.tags).toHaveLength(1);
  });

  test('says of each parameter and field what it takes', () => {
    const body = operation.requestBody?.content['application/json']?.schema;
    const schemas = [
      ...operation.parameters.map((one: { schema: unknown }) => one.schema),
      ...Object.values(body?.properties ?? {}),
    ];
    // What may be null is one of two types, and what has a kind one of several.
    for (const schema of schemas.flatMap(
      (one: { anyOf?: unknown[]; oneOf?: unknown[] }) => one.anyOf ?? one.oneOf ?? [one],
    ))
      expect(schema).toHaveProperty('type');
    const said = [...operation.parameters, ...Object.values(body?.properties ?? {})];
    for (const one of said) expect(one).toHaveProperty('description', expect.stringMatching(/^\S.+\.$/));
    const inPath = operation.parameters.filter((one: { in: string }) => one.in === 'path');
    expect(inPath.every((one: { required: boolean }) => one.required)).toBe(true);
    expect(inPath.length).toBe(endpoint.path.split('{').length - 1);
  });

  test('gives an example that its own schema accepts', () => {
    const { 200: ok, 201: created } = endpoint.output;
    const status = created === undefined ? 200 : 201;
    const declared = created ?? ok;
    const schema = declared && jsonOf(declared);
    const example = operation.responses[status]?.content?.['application/json']?.example;
    expect(example === undefined).toBe(schema === undefined);
    if (schema !== undefined) expect(schema.parse(example)).toEqual(example);
  });

  test('answers every error as a problem document, or as the Open Inference Protocol says', () => {
    const statuses = Object.keys(operation.responses).filter((status) => status >= '400');
    expect(statuses).toEqual(expect.arrayContaining(['400', '401', '429', '500', '503']));
    for (const status of statuses) {
      const [, , , kind] = operation.responses[status].$ref.split('/');
      const { content, description } = json.components.responses[kind];
      const isServing = endpoint.path.startsWith('/v2/');
      expect(Object.keys(content)).toEqual([isServing ? 'application/json' : 'application/problem+json']);
      if (!isServing)
        expect(content['application/problem+json'].example).toMatchObject({ status: Number(status) });
      expect(description).toMatch(/\.$/);
    }
  });

  test('needs a token unless it is open to anyone', () => {
    const isOpen = endpoint.allow === 'anyone';
    expect(operation.security).toEqual(isOpen ? [{}, { bearer: [] }] : [{ bearer: [] }]);
  });
});

test('a masked answer may be a part of the whole', () => {
  const { schema } = json.paths['/projects/'].get.responses[200].content['application/json'];
  expect(schema.anyOf).toHaveLength(2);
  const part = json.components.schemas.ListProjectsMasked.items;
  expect(part.properties.project_id).toMatchObject({ type: 'string' });
  expect(part).not.toHaveProperty('required');
});

test('the document is valid OpenAPI 3.1, as a validator of others sees it', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(kept));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
});
