import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createToken } from '../../functions/auth/create-token.endpoint.ts';
import { makeProxyEvent } from '../../infra/local/gateway/make-proxy-event.ts';
import { loadOperations } from '../../infra/service/endpoints.ts';
import { routeOf } from '../../infra/service/routes.ts';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';
import { bodyFields, fileBody } from '../../shared/http/openapi/facts.ts';
import { lambda } from '../../shared/http/pipeline/lambda.ts';
import type { Event } from '../../shared/http/pipeline/proxy-event.ts';
import { type TestService, type TestUser, testService } from '../support/service.ts';

const loaded = await loadOperations(join(import.meta.dirname, '../../functions'));
const half = '\ud800';
const message = 'contains half a character (a surrogate without its other half)';

let service: TestService;
let admin: TestUser;
beforeAll(async () => {
  service = await testService({ LOG_LEVEL: 'error' });
  admin = await service.user('admin');
});

/** An event of the endpoint with parts of it replaced by those that no HTTP request can be turned into. */
async function answerTo(endpoint: AnyEndpoint, replaced: Partial<Event>) {
  const { resource } = routeOf(endpoint);
  const parameters = Object.fromEntries(
    [...resource.matchAll(/\{(.+?)\+?\}/g)].map(([, name]) => [name ?? '', 'x']),
  );
  const { headers, ...others } = replaced;
  const [mediaType] = fileBody(endpoint)?.mediaTypes ?? [];
  const event = makeProxyEvent(
    {
      method: endpoint.method,
      path: resource,
      query: '',
      headers: [
        ['Authorization', `Bearer ${admin.token}`],
        ...(mediaType === undefined ? [] : [['Content-Type', mediaType] as const]),
        ...Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)] as const),
      ],
      body: new Uint8Array(),
      sourceIp: '127.0.0.1',
    },
    resource,
    parameters,
  );
  // biome-ignore lint/suspicious/noExplicitAny: no function reads its Lambda context
  const result = await lambda(endpoint, service.environment)({ ...event, ...others }, {} as any);
  return { status: result.statusCode, body: result.body, errors: JSON.parse(result.body).errors };
}

const isShown = (name: string): string => name.toWellFormed();

describe.each(loaded.map(({ endpoint }) => [endpoint.name, endpoint] as const))('%s', (_, endpoint) => {
  test('refuses half characters in its query', async () => {
    const name = `a${half}`;
    const answer = await answerTo(endpoint, {
      multiValueQueryStringParameters: { [name]: ['1'], limit: [half], b: ['1', `2${half}`] },
    });
    expect(answer.status, answer.body).toBe(400);
    for (const refused of [name, 'limit', 'b'])
      expect(answer.errors).toContainEqual({ in: 'query', name: isShown(refused), message });
    expect(answer.body).not.toContain('ud800');
  });

  test('refuses half characters in its headers', async () => {
    const answer = await answerTo(endpoint, {
      headers: { 'Idempotency-Key': half, 'X-Fields': `{a${half}}` },
    });
    expect(answer.status, answer.body).toBe(400);
    for (const name of ['Idempotency-Key', 'X-Fields'])
      expect(answer.errors).toContainEqual({ in: 'header', name, message });
  });

  const variables = [...endpoint.path.matchAll(/\{(.+?)\+?\}/g)].map(([, name]) => name ?? '');
  test.runIf(variables.length > 0)('refuses half characters in its path', async () => {
    const { resource } = routeOf(endpoint);
    const routed = [...resource.matchAll(/\{(.+?)\+?\}/g)].map(([, name]) => name ?? '');
    const answer = await answerTo(endpoint, {
      pathParameters: Object.fromEntries(routed.map((name) => [name, half])),
    });
    expect(answer.status, answer.body).toBe(400);
    for (const name of variables) expect(answer.errors).toContainEqual({ in: 'path', name, message });
  });

  const fields = bodyFields(endpoint);
  test.runIf(fields !== undefined)('refuses half characters in its JSON, also deep within', async () => {
    const [known = ''] = Object.keys(fields?.shape ?? {});
    // Nearly as deep as a body may be (`maxJsonDepth`).
    const depth = 90;
    const deep = `${'['.repeat(depth)}"\\ud800"${']'.repeat(depth)}`;
    const json = `{"${known}": "a\\ud800", "k\\udfff": 1, "list": [{"k": {"x\\ud800": 1}}], "deep": ${deep}}`;
    const answer = await answerTo(endpoint, {
      headers: { 'Content-Type': 'application/json' },
      body: json,
      isBase64Encoded: false,
    });
    expect(answer.status, answer.body).toBe(400);
    for (const name of [known, 'k\ufffd', 'list', 'deep'])
      expect(answer.errors).toContainEqual({ in: 'body', name, message });
    expect(answer.body).not.toMatch(/ud800|udfff/);
  });
});

test('a token is asked for with half a character as the name of its user', async () => {
  const answer = await service.call(createToken, {
    headers: { 'Content-Type': 'application/json' },
    body: '{"grant_type":"password","username":"\\ud800","password":"="}',
  });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.json.errors).toEqual([{ in: 'body', name: 'username', message }]);
});

test('whole pairs are taken', async () => {
  const answer = await service.call(createToken, {
    headers: { 'Content-Type': 'application/json' },
    body: '{"grant_type":"password","username":"nobody","password":"\\ud83d\\ude00"}',
  });
  expect(answer.json).toMatchObject({ error: 'invalid_grant' });
});
