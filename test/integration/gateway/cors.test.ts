import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as readHealth } from '../../../functions/service/read-health.endpoint.ts';
import { type RunningGateway, startGateway } from '../../../infra/local/gateway/gateway-server.ts';
import { securityHeaders } from '../../../shared/http/answer/security-headers.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { type RawAnswer, sendRaw } from '../../support/raw-http.ts';
import { testEnvironment } from '../../support/service.ts';

const app = 'https://app.example';
const dev = 'http://localhost:5173';

async function endpointsOf(CORS_ORIGINS: string) {
  const environment = await testEnvironment({ CORS_ORIGINS });
  const endpoints: AnyEndpoint[] = [listProjects, createProject, readHealth];
  return endpoints.map((endpoint) => ({
    file: endpoint.name,
    endpoint,
    handler: lambda(endpoint, environment),
  }));
}

function ask(url: string, line: string, headers: readonly string[] = []): Promise<RawAnswer> {
  const lines = [`${line} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close'];
  return sendRaw(url, `${lines.join('\r\n')}\r\n\r\n`);
}

const preflightOf = (origin: string) => [
  `Origin: ${origin}`,
  'Access-Control-Request-Method: POST',
  'Access-Control-Request-Headers: authorization',
];

const namesOf = (answer: RawAnswer) =>
  Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));

function expectSecure({ headers }: RawAnswer): void {
  for (const [name, value] of Object.entries(securityHeaders))
    expect(headers[name.toLowerCase()]).toBe(value);
}

describe('pages of other origins', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    const endpoints = await endpointsOf(`${app}, ${dev}`);
    gateway = await startGateway({ endpoints, port: 0, corsOrigins: [app, dev] });
  });
  afterAll(() => gateway.close());

  test.each([
    ['GET /health', 200],
    ['GET /projects', 401],
    ['GET /nowhere', 404],
    ['PATCH /projects', 405],
    ['OPTIONS /projects', 405],
    ['GET /health?unknown=1', 400],
    ['GET http://absolute/', 400],
  ])('%s may be read by those that are listed (%i)', async (line, status) => {
    for (const origin of [app, dev]) {
      const answer = await ask(gateway.url, line, [`Origin: ${origin}`]);
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-expose-headers':
          'Allow, ETag, Idempotency-Replayed, Link, Location, Retry-After, WWW-Authenticate, X-Amzn-Remapped-WWW-Authenticate, X-Request-Id, X-Unreadable-Records',
        vary: 'Origin',
      });
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
      expectSecure(answer);
    }
  });

  test.each([
    'https://evil.example',
    'https://app.example.evil.example',
    'https://app.example:443',
    'http://app.example',
    'https://APP.example',
    'https://app.example/',
    `${app}, ${dev}`,
    'null',
    '*',
    '',
  ])('%j is none of them', async (origin) => {
    for (const line of ['GET /health', 'GET /projects', 'GET /nowhere', 'OPTIONS /projects']) {
      const answer = await ask(gateway.url, line, preflightOf(origin));
      expect(namesOf(answer)).toEqual([]);
      expect(answer.headers['vary']).toBe('Origin');
      expect(answer.status).not.toBe(204);
    }
  });

  test('two Origin headers are none', async () => {
    expect(namesOf(await ask(gateway.url, 'GET /health', [`Origin: ${app}`, `Origin: ${dev}`]))).toEqual([]);
  });

  test('a preflight tells what may be sent, on every route with and without its slash', async () => {
    for (const path of ['/projects', '/projects/']) {
      const answer = await ask(gateway.url, `OPTIONS ${path}`, preflightOf(app));
      expect(answer.status).toBe(204);
      expect(answer.body).toBe('');
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': app,
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-allow-headers':
          'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Fields',
        'access-control-max-age': '3600',
        vary: 'Origin',
      });
      expectSecure(answer);
    }
  });

  test('a preflight of what does not exist is 404, and readable', async () => {
    const answer = await ask(gateway.url, 'OPTIONS /nowhere', preflightOf(app));
    expect(answer.status).toBe(404);
    expect(answer.headers['access-control-allow-origin']).toBe(app);
  });
});

test('no page may read anything where no origin is set', async () => {
  const gateway = await startGateway({ endpoints: await endpointsOf(''), port: 0 });
  try {
    for (const line of ['GET /health', 'GET /projects', 'GET /nowhere', 'OPTIONS /projects']) {
      const answer = await ask(gateway.url, line, preflightOf(app));
      expect(namesOf(answer)).toEqual([]);
      expect(answer.headers).not.toHaveProperty('vary');
      expect(answer.status).not.toBe(204);
      expectSecure(answer);
    }
  } finally {
    await gateway.close();
  }
});
