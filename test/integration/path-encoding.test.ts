import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type RunningGateway, startGateway } from '../../infra/local/gateway/gateway-server.ts';
import { routeOf } from '../../infra/service/routes.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';
import { paging } from '../../shared/http/definition/pagination.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { lambda } from '../../shared/http/pipeline/lambda.ts';
import { sendRaw } from '../support/raw-http.ts';
import { testEnvironment } from '../support/service.ts';

const usual = { method: 'GET', summary: 'Echoes its path', allow: 'anyone', needs: {} } as const;
const path = z.strictObject({ folder_id: z.string(), path: z.string() });

/** Answers its variables as it receives them, a page at a time. */
const greedy: AnyEndpoint = defineEndpoint({
  ...usual,
  name: 'readFile',
  path: '/folders/{folder_id}/files/{path+}',
  input: { path, query: z.strictObject(paging) },
  output: { 200: path.extend({ cursor: z.string().nullable() }) },
  etag: true,
  async handle(input) {
    const { cursor } = input.query;
    return Reply.json(
      { ...input.path, cursor: cursor ?? null },
      { version: 1, next: { after: 'x', query: { limit: 1 } } },
    );
  },
});
const single: AnyEndpoint = defineEndpoint({
  ...usual,
  name: 'readFolder',
  path: '/folders/{folder_id}',
  input: { path: path.pick({ folder_id: true }) },
  output: { 200: path.pick({ folder_id: true }) },
  handle: async (input) => input.path,
});

describe('variables of a path', () => {
  let gateway: RunningGateway;
  let asked: { resource: string; pathParameters: unknown }[];
  beforeAll(async () => {
    const environment = await testEnvironment();
    const endpoints = [greedy, single].map((endpoint) => {
      const handler = lambda(endpoint, environment);
      return {
        file: endpoint.name,
        endpoint,
        handler: (...[event, context]: Parameters<typeof handler>) => {
          asked.push({ resource: event.resource, pathParameters: event.pathParameters });
          return handler(event, context);
        },
      };
    });
    gateway = await startGateway({ endpoints, port: 0 });
  });
  afterAll(() => gateway.close());

  async function get(target: string, headers: readonly string[] = []) {
    asked = [];
    const lines = [`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close'];
    return sendRaw(gateway.url, `${lines.join('\r\n')}\r\n\r\n`);
  }
  const text = (body: string): string => Buffer.from(body, 'latin1').toString('utf8');

  test.each([
    ['loss%20curve.png', 'loss curve.png'],
    ['a%2Fb', 'a/b'],
    ['a%252Fb', 'a%2Fb'],
    ['100%25', '100%'],
    ['%2525', '%25'],
    ['a+b', 'a+b'],
    ['a%2Bb', 'a+b'],
    ['Z%C3%BCrich%20%F0%9F%8E%89', 'Zürich 🎉'],
    ['%41', 'A'],
    ['a;b=c,d@e:f!', 'a;b=c,d@e:f!'],
    ['%2e%2e', '..'],
  ])('%s reaches a behaviour as %s, and the function as it was sent', async (sent, value) => {
    const { resource } = routeOf(single);
    const one = await get(`/folders/${sent}`);
    expect(asked).toEqual([{ resource, pathParameters: { p1: sent } }]);
    expect(JSON.parse(text(one.body))).toEqual({ folder_id: value });

    const within = await get(`/folders/${sent}/files/x/${sent}/y/`);
    expect(asked[0]?.pathParameters).toEqual({ p1: sent, p3: `x/${sent}/y/` });
    expect(JSON.parse(text(within.body))).toMatchObject({ folder_id: value, path: `x/${value}/y/` });
  });

  test.each(['%', '%zz', '%2', 'a%ffb', '%ED%A0%80', '%C0%AF', 'a%u0041'])(
    '%s is 400 and names the parameter',
    async (sent) => {
      const fault = (name: string) => ({ in: 'path', name, message: 'is not UTF-8 in percent-encoding' });
      const answer = await get(`/folders/${sent}/files/a/${sent}`);
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([fault('folder_id'), fault('path')]);
      expect((await get(`/folders/${sent}/`)).json.errors).toEqual([fault('folder_id')]);
    },
  );

  test('a cursor and an ETag hold for a path however it is encoded, and for no other', async () => {
    const first = await get('/folders/a%20b/files/c/d');
    const [, query = ''] = /^<(\?[^>]+)>; rel="next"$/.exec(first.headers['link'] ?? '') ?? [];
    expect(query).toMatch(/^\?limit=1&cursor=/);
    expect((await get(`/folders/%61%20b/files/c%2Fd${query}`)).json).toMatchObject({ cursor: 'x' });
    expect((await get(`/folders/a%2520b/files/c/d${query}`)).status).toBe(400);
    const again = await get('/folders/%61%20b/files/c%2Fd', [`If-None-Match: ${first.headers['etag']}`]);
    expect(again.status).toBe(304);
  });
});
