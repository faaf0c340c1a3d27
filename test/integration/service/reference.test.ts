import { describe, expect, test } from 'vitest';
import { endpoint as readDocs } from '../../../functions/service/read-docs.endpoint.ts';
import { endpoint as readOpenapi } from '../../../functions/service/read-openapi.endpoint.ts';
import { testService } from '../../support/service.ts';

const service = await testService();

describe('the reference', () => {
  test('is a page under a policy of its own', async () => {
    const { status, headers, text } = await service.call(readDocs);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(/script-src 'sha256-.+'; .*frame-ancestors 'none'/);
    expect(text).toContain('<article id="createProject"');
  });

  test('is an OpenAPI document too', async () => {
    const { status, headers, json } = await service.call(readOpenapi);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(json.openapi).toBe('3.1.1');
    expect(json.paths['/projects/'].post.operationId).toBe('createProject');
  });

  test.each([readDocs, readOpenapi])('is sent once to who keeps it', async (endpoint) => {
    const first = await service.call(endpoint);
    const again = await service.call(endpoint, { headers: { 'If-None-Match': first.headers['etag'] ?? '' } });
    expect(again.status).toBe(304);
    expect(again.text).toBe('');
  });
});
