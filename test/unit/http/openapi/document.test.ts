import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineEndpoint } from '../../../../shared/http/definition/definition.ts';
import { fields, file } from '../../../../shared/http/definition/endpoint-input.ts';
import { content, redirect } from '../../../../shared/http/definition/endpoint-output.ts';
import type { AnyEndpoint } from '../../../../shared/http/definition/middleware.ts';
import { decimal, flag, integer } from '../../../../shared/http/definition/parameters.ts';
import { openApiDocument, type TagRule } from '../../../../shared/http/openapi/document.ts';

const Tree = z.object({ name: z.string(), height: z.number().int().nullable() }).meta({ id: 'Tree' });

const readTree = defineEndpoint({
  name: 'readTree',
  method: 'GET',
  path: '/forests/{forest}/trees/{tree}/',
  summary: 'A tree',
  allow: 'viewer',
  needs: {},
  input: { path: z.strictObject({ forest: z.string(), tree: z.string() }) },
  output: { 200: Tree },
  fieldsMask: true,
  etag: true,
  handle: () => Promise.reject(new Error('not called')),
});

const base: AnyEndpoint = {
  ...readTree,
  input: {},
  fieldsMask: false,
  etag: false,
  path: '/forests/',
  name: 'growForest',
  method: 'POST',
};

function operationOf(endpoint: AnyEndpoint, tags: readonly TagRule[] = [], samples = {}) {
  const document = openApiDocument([endpoint], { title: 'T', version: '1', description: 'D', tags, samples });
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into the document
  const json: any = JSON.parse(JSON.stringify(document));
  const [path = '', methods] = Object.entries(json.paths)[0] ?? [];
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into the document
  const [operation] = Object.values<any>(methods ?? {});
  return { json, path, operation };
}

const statuses = (endpoint: AnyEndpoint): number[] =>
  Object.keys(operationOf(endpoint).operation.responses).map(Number);

describe('a path', () => {
  test('is the published one with its trailing slash', () => {
    expect(operationOf(readTree).path).toBe('/forests/{forest}/trees/{tree}/');
  });

  test('has its greedy variable as a plain one', () => {
    const input = { path: z.strictObject({ path: z.string() }) };
    expect(operationOf({ ...base, path: '/files/{path+}', input }).path).toBe('/files/{path}');
  });
});

describe('parameters', () => {
  const query = z.strictObject({
    count: integer(1, 9),
    share: decimal(0, 1).optional(),
    deep: flag.default(false),
  });

  test('that are texts in a query are what they mean', () => {
    const { parameters } = operationOf({ ...base, input: { query } }).operation;
    expect(parameters).toEqual([
      { name: 'count', in: 'query', required: true, schema: { type: 'integer', minimum: 1, maximum: 9 } },
      { name: 'share', in: 'query', required: false, schema: { type: 'number', minimum: 0, maximum: 1 } },
      { name: 'deep', in: 'query', required: false, schema: { type: 'boolean', default: false } },
    ]);
  });

  test('include the headers that work', () => {
    const names = (endpoint: AnyEndpoint) =>
      operationOf(endpoint)
        .operation.parameters.filter((one: { in: string }) => one.in === 'header')
        .map((one: { name: string }) => one.name);
    expect(names(readTree)).toEqual(['X-Fields', 'If-None-Match']);
    expect(names({ ...base, method: 'PUT', etag: true })).toEqual(['If-Match', 'If-None-Match']);
    expect(names({ ...base, method: 'DELETE', problems: ['precondition-failed'] })).toEqual(['If-Match']);
    expect(names({ ...base, idempotent: { kind: 'signs', table: 'records' } })).toEqual(['Idempotency-Key']);
    expect(names(base)).toEqual([]);
  });

  test('that may stand in the query or in the body are shown where clients put them best', () => {
    const queryOrBody = z.strictObject({ name: z.string() });
    const posted = operationOf({
      ...base,
      input: { queryOrBody, body: fields(z.strictObject({ secret: z.string() })) },
    });
    expect(posted.operation.parameters).toEqual([]);
    expect(posted.operation.requestBody.content['application/json'].schema.required).toEqual([
      'name',
      'secret',
    ]);
    expect(posted.operation.description).toContain('`name` may also be in the query');
    const deleted = operationOf({ ...base, method: 'DELETE', input: { queryOrBody } });
    expect(deleted.operation.requestBody).toBeUndefined();
    expect(deleted.operation.parameters).toMatchObject([{ name: 'name', in: 'query', required: true }]);
    expect(deleted.operation.description).toContain('`name` may also be in a JSON or form body');
  });
});

describe('a body', () => {
  test('of fields is JSON, and says that it may be a form', () => {
    const body = fields(z.strictObject({ name: z.string(), note: z.string().optional() }));
    const { requestBody } = operationOf({ ...base, input: { body } }).operation;
    expect(requestBody.required).toBe(true);
    expect(Object.keys(requestBody.content)).toEqual(['application/json']);
    expect(requestBody.description).toContain('`application/x-www-form-urlencoded`');
    expect(requestBody.content['application/json'].schema).toMatchObject({
      required: ['name'],
      type: 'object',
    });
  });

  test('must be there where a field of it must, or any', () => {
    const body = z.strictObject({ name: z.string().optional() });
    const required = (schema: z.ZodObject) =>
      operationOf({ ...base, input: { body: fields(schema) } }).operation.requestBody.required;
    expect(required(body)).toBe(false);
    expect(required(body.extend({ note: z.string() }))).toBe(true);
    expect(required(body.meta({ minProperties: 1 }))).toBe(true);
  });

  test('that is a file has its media types and its limit', () => {
    const { requestBody } = operationOf({ ...base, input: { body: file(['image/png'], 4096) } }).operation;
    const schema = { type: 'string', format: 'binary' };
    expect(requestBody.content).toEqual({ 'application/octet-stream': { schema } });
    expect(requestBody.description).toContain('4,096');
    expect(requestBody.description).toContain('or its own: image/png');
  });
});

describe('answers', () => {
  test('name their schema once, and a part of it where there is a mask', () => {
    const { json, operation } = operationOf(readTree, [], { height: null, name: 'oak' });
    const media = operation.responses[200].content['application/json'];
    expect(media.schema.anyOf).toEqual([
      { $ref: '#/components/schemas/Tree' },
      { $ref: '#/components/schemas/ReadTreeMasked' },
    ]);
    expect(media.example).toEqual({ name: 'oak', height: null });
    expect(json.components.schemas.Tree.required).toEqual(['name', 'height']);
    expect(json.components.schemas.ReadTreeMasked).not.toHaveProperty('required');
    expect(operation.parameters.at(-2)).toMatchObject({ name: 'X-Fields', example: '{name,height}' });
  });

  test('have all their media types', () => {
    const output = { 200: content(['image/svg+xml', 'image/webp'], z.array(Tree)) };
    const { content: media } = operationOf({ ...base, output }).operation.responses[200];
    expect(Object.keys(media)).toEqual(['application/json', 'image/svg+xml', 'image/webp']);
    expect(media['image/svg+xml']).toEqual({ schema: { type: 'string' } });
    expect(media['image/webp']).toEqual({ schema: { type: 'string', format: 'binary' } });
  });

  test('that are redirects have a Location and no body, and say what is found there', () => {
    const { responses } = operationOf({ ...base, output: { 302: redirect } }).operation;
    expect(Object.keys(responses[200].content)).toEqual(['application/octet-stream']);
    const { 302: response } = responses;
    expect(Object.keys(response.headers)).toEqual(['X-Request-Id', 'Location']);
    expect(response).not.toHaveProperty('content');
  });

  test('have ETag, Link and Idempotency-Replayed where there is one', () => {
    const headers = (endpoint: AnyEndpoint) =>
      Object.keys(operationOf(endpoint).operation.responses[200].headers);
    expect(headers(readTree)).toEqual(['X-Request-Id', 'ETag']);
    const query = z.strictObject({ cursor: z.string().optional() });
    expect(headers({ ...base, input: { query } })).toEqual(['X-Request-Id', 'Link', 'X-Unreadable-Records']);
    const keyed: AnyEndpoint = { ...base, idempotent: { kind: 'signs', table: 'records' } };
    expect(headers(keyed)).toEqual(['X-Request-Id', 'Idempotency-Replayed']);
  });
});

describe('errors', () => {
  const always = [200, 400, 401, 408, 413, 429, 431, 500, 503];
  const open: AnyEndpoint = { ...base, method: 'GET', allow: 'anyone' };

  const table: [string, AnyEndpoint, number[]][] = [
    ['any endpoint', open, []],
    ['a rule', base, [403, 409]],
    ['a write, which pages of other origins may not do', { ...open, method: 'POST' }, [403]],
    [
      'a rule that everybody signed in satisfies, but not every token',
      { ...open, allow: 'guest' },
      [403, 409],
    ],
    ['a variable in the path', { ...open, path: '/a/{b}' }, [404]],
    ['a mask', readTree, [304, 403, 404, 409]],
    ['a change of a record with an ETag', { ...open, method: 'PATCH', etag: true }, [403, 412]],
    ['a body of fields', { ...open, input: { body: fields(z.strictObject({})) } }, [415]],
    ['a body of any type', { ...open, input: { body: file(['*/*'], 1) } }, []],
    ['kinds of its own', { ...open, problems: ['conflict'] }, [409]],
    ['an idempotency key', { ...open, idempotent: { kind: 'signs', table: 't' } }, [404, 409, 422]],
  ];

  test.each(table)('of %s', (_, endpoint, more) => {
    expect(statuses(endpoint)).toEqual([...always, ...more].sort((one, other) => one - other));
  });
});

describe('groups', () => {
  const rules = [
    { name: 'Trees', description: 'Trees.', paths: ['/forests/{forest}/trees'] },
    { name: 'Forests', description: 'Forests.', paths: ['/forests/'] },
  ];

  test('are those of the longest beginning of a path', () => {
    expect(operationOf(readTree, rules).operation.tags).toEqual(['Trees']);
    expect(operationOf(base, rules).operation.tags).toEqual(['Forests']);
    expect(operationOf({ ...base, path: '/health' }, rules).operation.tags).toEqual(['health']);
  });

  test('are described where they have operations', () => {
    expect(operationOf(base, rules).json.tags).toEqual([{ name: 'Forests', description: 'Forests.' }]);
  });
});

test('two schemas of one name are refused', () => {
  const other = { ...base, output: { 200: z.object({ leaves: z.number() }).meta({ id: 'Tree' }) } };
  const options = { title: '', version: '', description: '', tags: [], samples: {} };
  expect(() => openApiDocument([readTree, other], options)).toThrow('two schemas are named Tree');
});
