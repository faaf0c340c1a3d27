import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { endpoint as readDocs } from '../../../functions/service/read-docs.endpoint.ts';
import { endpoint as readOpenapi } from '../../../functions/service/read-openapi.endpoint.ts';
import { testService } from '../../support/service.ts';

const service = await testService();

describe('the reference', () => {
  test('is a guide and a page for each group, under a policy of its own', async () => {
    const { text: guide } = await service.call(readDocs);
    expect(guide).toContain('Train a folder');
    const { status, headers, text } = await service.call(readDocs, { query: { page: 'projects' } });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(/script-src 'sha256-.+'; .*frame-ancestors 'none'/);
    expect(text).toContain('<article id="createProject"');
  });

  test('names its pages to a caller who asks for another', async () => {
    const { status, json } = await service.call(readDocs, { query: { page: 'people' } });
    expect(status).toBe(400);
    expect(json.errors).toMatchObject([
      { name: 'page', message: /^must be one of sign-in, projects, .*errors$/ },
    ]);
  });

  test('is an OpenAPI document too', async () => {
    const { status, headers, json } = await service.call(readOpenapi);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(json.openapi).toBe('3.1.1');
    expect(json.paths['/projects/'].post.operationId).toBe('createProject');
  });

  test.each([
    [readDocs, 27_000, {}],
    [readDocs, 80_000, { page: 'experiments' }],
    [readOpenapi, 90_000, {}],
  ])('is compressed for who takes that', async (endpoint, most, query) => {
    const plain = await service.call(endpoint, { query });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    const packed = await service.call(endpoint, { query, headers: { 'Accept-Encoding': 'gzip, br' } });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.bytes.length).toBeLessThan(most);
    expect(gunzipSync(packed.bytes)).toEqual(plain.bytes);
    for (const { headers } of [plain, packed]) expect(headers['vary']).toBe('Accept-Encoding');

    // Two forms have two tags, and each is known again by either.
    const tags = [plain, packed].map(({ headers }) => headers['etag'] ?? '');
    expect(new Set(tags).size).toBe(2);
    for (const tag of tags) {
      const known = { 'If-None-Match': tag };
      expect((await service.call(endpoint, { query, headers: known })).headers['etag']).toBe(tags[0]);
      const again = await service.call(endpoint, { query, headers: { ...known, 'Accept-Encoding': 'gzip' } });
      expect([again.status, again.headers['etag'], again.text]).toEqual([304, tags[1], '']);
    }
  });

  test('is kept for ever under its hash, which the page knows', async () => {
    const page = await service.call(readDocs);
    const [, v = ''] = /href="openapi\.json\?v=([\w-]{16})"/.exec(page.text) ?? [];
    const caching = async (query: string) =>
      (await service.call(readOpenapi, { query })).headers['cache-control'];
    expect(await caching(`v=${v}`)).toBe('public, max-age=31536000, immutable');
    for (const other of ['', 'v=AAAAAAAAAAAAAAAA']) expect(await caching(other)).toBe('public, no-cache');
    expect(page.headers['cache-control']).toBe('public, no-cache');
    expect((await service.call(readOpenapi, { query: 'v=%20' })).status).toBe(400);
  });

  test.each([readDocs, readOpenapi])('is sent once to who keeps it', async (endpoint) => {
    const first = await service.call(endpoint);
    const again = await service.call(endpoint, { headers: { 'If-None-Match': first.headers['etag'] ?? '' } });
    expect(again.status).toBe(304);
    expect(again.text).toBe('');
  });
});
