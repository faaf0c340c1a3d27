import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { endpoint as readStart } from '../../../functions/service/read-start.endpoint.ts';
import { startOf, startPage } from '../../../functions/service/start-page.ts';
import { testService } from '../../support/service.ts';

const service = await testService();
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('the root of the service', () => {
  test.each([undefined, '*/*', 'application/json'])('is JSON for Accept %s', async (accept) => {
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
    const { status, json, headers: answered } = await service.call(readStart, { headers });
    expect(status).toBe(200);
    expect(json).toEqual({
      service: 'model-project-service',
      console: '/console',
      docs: '/docs',
      openapi: '/openapi.json',
      health: '/health',
      token: '/auth/token',
      account: '/users/me',
      command: '/cli/mps.tgz',
      python: expect.stringMatching(/^\/cli\/model_project_service-\d+\.\d+\.\d+-py3-none-any\.whl$/),
      python_versions: null,
      package_indexes: expect.arrayContaining(['pypi.org']),
      priced: false,
      data_folder: null,
      issuer_sign_in: null,
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    expect(answered['vary']).toContain('Accept');
  });

  test('is a page for browsers, under a policy that admits its own style and nothing else', async () => {
    const { status, headers, text } = await service.call(readStart, { headers: { Accept: browser } });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['vary']).toContain('Accept');
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toContain(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src`,
    );
    expect(text).toContain('pip install &quot;model-project-service @ $BASE/cli/model_project_service-');
    expect(text).not.toMatch(/<script|style="|http:|https:/);
    for (const href of ['/console', '/docs', '/openapi.json', '/health'])
      expect(text).toContain(`href="${href}"`);
  });

  test('shows the size and the limit of a data folder', () => {
    const start = startOf('/', undefined, { bytes: 961_000_000, limit: 1_000_000_000 });
    expect(startPage(start)).toContain('The data folder has 961 MB of at most 1.00 GB.');
    expect(startPage(startOf('/'))).not.toContain('data folder');
  });

  test.each([
    ['/', '/docs'],
    ['/v1', '/v1/docs'],
    ['/v1/', '/v1/docs'],
    ['//elsewhere.example/', '/elsewhere.example/docs'],
  ])('asked for at %s leads to %s', (requestPath, docs) => {
    expect(startOf(requestPath, ['3.13.5'])).toMatchObject({ docs, python_versions: ['3.13.5'] });
  });
});
