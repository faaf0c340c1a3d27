import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../../../infra/local/gateway/gateway-server.ts';
import { eventBodyMaxBytes } from '../../../infra/local/gateway/receive-event-body.ts';
import { securityHeaders } from '../../../shared/http/answer/security-headers.ts';
import { type RawAnswer, sendRaw } from '../../support/raw-http.ts';
import { type Behaviour, served } from './served.ts';

const echo: Behaviour = (event) => ({
  statusCode: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ ...event, bytes: Buffer.from(event.body ?? '', 'base64').length }),
});

const endpoints = [
  served('GET', '/items/{item_id}', echo),
  served('DELETE', '/items/{item_id}', echo),
  served('POST', '/items/', echo),
  served('GET', '/throws', () => Promise.reject(new Error('a secret of the inside'))),
  served('GET', '/splits', () => ({ statusCode: 200, headers: { 'X-A': 'b\r\nX-C: d' }, body: '' })),
  served('GET', '/sleeps', () => new Promise(() => {})),
  served('GET', '/bytes', () => ({
    statusCode: 200,
    multiValueHeaders: { 'X-Many': ['one', 'two'] },
    body: Buffer.from([0, 255, 10]).toString('base64'),
    isBase64Encoded: true,
  })),
];

describe('the gateway', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ endpoints, port: 0, timeLimit: 200, headersTimeout: 300 });
  });
  afterAll(() => gateway.close());

  const raw = (lines: readonly string[], body = ''): Promise<RawAnswer> =>
    sendRaw(gateway.url, `${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);

  /** A text as `raw` reads it, byte by byte. */
  const received = (text: string): string => Buffer.from(text).toString('latin1');

  function expectProblem(answer: RawAnswer, status: number): void {
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json).toMatchObject({ status, detail: expect.any(String), instance: expect.any(String) });
    expect(answer.json.title.length).toBeGreaterThan(0);
    expect(answer.status).toBe(status);
    for (const [name, value] of Object.entries(securityHeaders)) {
      expect(answer.headers[name.toLowerCase()]).toBe(value);
    }
  }

  test.each(['/items/a%20b', '/items/a%20b/'])(
    '%s reaches the function as a REST proxy event',
    async (path) => {
      const answer = await fetch(`${gateway.url}${path}?x=1&x=2&y=`, { headers: { 'X-Test': 'yes' } });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({
        resource: '/items/{p1}',
        path,
        httpMethod: 'GET',
        pathParameters: { p1: 'a%20b' },
        multiValueQueryStringParameters: { x: ['1', '2'], y: [''] },
        queryStringParameters: { x: '2', y: '' },
        multiValueHeaders: { 'X-Test': ['yes'] },
        body: null,
        requestContext: { identity: { sourceIp: '127.0.0.1' }, resourcePath: '/items/{p1}' },
      });
    },
  );

  test('bodies and answers may be any bytes', async () => {
    const body = new Uint8Array([0, 1, 254, 255]);
    const posted = await fetch(`${gateway.url}/items`, { method: 'POST', body });
    expect(await posted.json()).toMatchObject({ bytes: 4, isBase64Encoded: true });
    const got = await fetch(`${gateway.url}/bytes`);
    expect(new Uint8Array(await got.arrayBuffer())).toEqual(new Uint8Array([0, 255, 10]));
    expect(got.headers.get('x-many')).toBe('one, two');
  });

  test.each([
    ['a=%ff', ['a']],
    ['b=1&a=%ED%A0%80', ['a']],
    ['a=%c3&b=%28', ['a']],
    ['%ff=1&b=%f8%80%80%80%ae', ['\uFFFD', 'b']],
    ['a=%ff&a=%fe', ['a']],
  ])('a query that is not UTF-8 is 400 and names the parameter: %s', async (query, names) => {
    const answer = await raw([`GET /items/a?${query} HTTP/1.1`, 'Host: localhost']);
    expectProblem(answer, 400);
    const message = 'is not UTF-8 in percent-encoding';
    expect(answer.json.errors).toEqual(names.map((name) => ({ in: 'query', name: received(name), message })));
  });

  test.each([
    ['a=Z%C3%BCrich', 'Zürich'],
    ['a=100%&b=%zz', '100%'],
    ['a=%EF%BF%BD', '\uFFFD'],
    ['a=%F0%9F%8E%89+%2B', '🎉 +'],
  ])('a query that is UTF-8 reaches the function: %s', async (query, value) => {
    const answer = await raw([`GET /items/a?${query} HTTP/1.1`, 'Host: localhost']);
    expect(answer.json.multiValueQueryStringParameters.a).toEqual([received(value)]);
  });

  test.each(['/nothing', '/', '//', '/items/a/b', '//items/a', '/%69tems/a', '/items%2Fa'])(
    '%s is 404',
    async (path) => {
      expectProblem(await raw([`GET ${path} HTTP/1.1`, 'Host: localhost']), 404);
    },
  );

  test.each(['PUT', 'OPTIONS', 'POST', 'PATCH'])('%s is 405 and says what is allowed', async (method) => {
    const answer = await raw([`${method} /items/a HTTP/1.1`, 'Host: localhost']);
    expectProblem(answer, 405);
    expect(answer.headers['allow']).toBe('DELETE, GET, HEAD');
  });

  test('an unknown expectation is passed over, and CONNECT refused', async () => {
    const expecting = await raw(['GET /items/a HTTP/1.1', 'Host: localhost', 'Expect: miracles']);
    expect(expecting.status).toBe(200);
    expectProblem(await raw(['CONNECT localhost:22 HTTP/1.1', 'Host: localhost']), 400);
  });

  test('HEAD is GET without its body', async () => {
    const lines = ['HTTP/1.1', 'Host: localhost'];
    for (const path of ['/bytes', '/nothing', '/throws']) {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => raw([`${method} ${path} ${lines[0]}`, ...lines.slice(1)])),
      );
      const same = ({ status, headers }: RawAnswer) => ({ status, ...headers, 'x-request-id': '', date: '' });
      expect(same(head!)).toEqual(same(get!));
      expect(Number(head?.headers['content-length'])).toBe(get?.body.length);
      expect(head?.body).toBe('');
    }
  });

  test('HEAD where there is no GET is 405', async () => {
    const answer = await raw(['HEAD /items/ HTTP/1.1', 'Host: localhost']);
    expect([answer.status, answer.headers['allow'], answer.body]).toEqual([405, 'POST', '']);
  });

  test.each([
    'evil.example',
    'evil.example:3000',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    '',
    'localhost:3000:1',
  ])('Host %j is refused', async (host) => {
    expectProblem(await raw(['GET /items/a HTTP/1.1', `Host: ${host}`]), 403);
  });

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1:3000', '[::1]', '[::1]:3000'])(
    'Host %s is its own',
    async (host) => {
      expect((await raw(['GET /items/a HTTP/1.1', `Host: ${host}`])).status).toBe(200);
    },
  );

  test('no Host, two Hosts and absolute targets are bad requests', async () => {
    expectProblem(await raw(['GET /items/a HTTP/1.1']), 400);
    expectProblem(await raw(['GET /items/a HTTP/1.1', 'Host: localhost', 'Host: localhost']), 400);
    expectProblem(await raw(['GET http://localhost/items/a HTTP/1.1', 'Host: localhost']), 400);
  });

  test('request line and headers may have 10,240 bytes together', async () => {
    const lines = (padding: number) => [
      'GET /items/a HTTP/1.1',
      'Host: localhost',
      `X-Padding: ${'x'.repeat(padding)}`,
    ];
    const others = `${[...lines(0), 'Connection: close'].join('\r\n')}\r\n\r\n`.length;
    expect((await raw(lines(10_240 - others))).status).toBe(200);
    expectProblem(await raw(lines(10_241 - others)), 431);
    expectProblem(await raw(lines(60_000)), 431);
    expectProblem(await raw([`GET /items/${'a'.repeat(30_000)} HTTP/1.1`, 'Host: localhost']), 431);
  });

  test('many small headers count as well', async () => {
    const many = Array.from({ length: 2_500 }, () => 'a:');
    expectProblem(await raw(['GET /items/a HTTP/1.1', 'Host: localhost', ...many]), 431);
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    [
      'two lengths',
      'POST /items HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    ],
    [
      'length and chunks',
      'POST /items HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('%s is a bad request', async (_, bytes) => {
    expectProblem(await sendRaw(gateway.url, Buffer.from(bytes, 'latin1')), 400);
  });

  test('a body up to the limit arrives, one byte more is refused', async () => {
    const post = (bytes: number) =>
      fetch(`${gateway.url}/items`, { method: 'POST', body: new Uint8Array(bytes) });
    expect(await (await post(eventBodyMaxBytes)).json()).toMatchObject({ bytes: eventBodyMaxBytes });
    const refused = await post(eventBodyMaxBytes + 1);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ status: 413 });
  });

  test('a body without a length is refused once it is too large', async () => {
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
    const chunks = Math.ceil(eventBodyMaxBytes / 65_536) + 1;
    const head = ['POST /items HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked'];
    expectProblem(await raw(head, `${chunk.repeat(chunks)}0\r\n\r\n`), 413);
  });

  test('who asks first whether to send too large a body is told not to', async () => {
    const head = [
      'POST /items HTTP/1.1',
      'Host: localhost',
      'Expect: 100-continue',
      'Content-Length: 99999999',
    ];
    expectProblem(await raw(head), 413);
  });

  test('a function that throws is an internal error without its reason', async () => {
    const answer = await raw(['GET /throws HTTP/1.1', 'Host: localhost']);
    expectProblem(answer, 500);
    expect(answer.body).not.toContain('secret');
  });

  test('a function that makes an impossible header is an internal error', async () => {
    const answer = await raw(['GET /splits HTTP/1.1', 'Host: localhost']);
    expectProblem(answer, 500);
    expect(answer.headers).not.toHaveProperty('x-c');
  });

  test('a function that does not end in time is unavailable', async () => {
    const answer = await raw(['GET /sleeps HTTP/1.1', 'Host: localhost']);
    expectProblem(answer, 503);
    expect(answer.headers['retry-after']).toBe('5');
  });

  test.each([
    ['a request line', 'GET /items/a HT'],
    ['headers', 'GET /items/a HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
    ['a body', 'POST /items HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nslow'],
  ])('%s that does not come to its end is given up', async (_, bytes) => {
    expectProblem(await sendRaw(gateway.url, bytes), 408);
  });

  test('clients that go away in the middle harm nobody', async () => {
    const { hostname, port } = new URL(gateway.url);
    const starts = [
      'GET /sleeps HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'POST /items HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx',
    ];
    for (const start of starts) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () =>
          socket.write(start, () => socket.resetAndDestroy()),
        );
        socket.on('error', () => {});
        socket.on('close', () => resolve());
      });
    }
    expect((await fetch(`${gateway.url}/items/a`)).status).toBe(200);
  });

  test('a connection serves many requests', async () => {
    const one = 'GET /items/a HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const answer = await sendRaw(
      gateway.url,
      `${one}${one}GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(answer.body.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404']);
  });
});

test('further host names are admitted on demand, and a port in use is an error', async () => {
  const gateway = await startGateway({ endpoints, port: 0, allowedHosts: ['bridge.internal'] });
  try {
    const lines = 'GET /items/a HTTP/1.1\r\nHost: Bridge.internal:3000\r\nConnection: close\r\n\r\n';
    expect((await sendRaw(gateway.url, lines)).status).toBe(200);
    const again = startGateway({ endpoints, port: Number(new URL(gateway.url).port) });
    await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
  } finally {
    await gateway.close();
  }
});

test('no request is answered before what the opening of the port begins has ended', async () => {
  const events: string[] = [];
  const first = served('GET', '/first', () => {
    events.push('answered');
    return { statusCode: 200, body: '' };
  });
  let asked: Promise<Response> | undefined;

  const gateway = await startGateway({
    endpoints: [first],
    port: 0,
    onOpen: async (url) => {
      asked = fetch(`${url}/first`);
      // The connection of the request is accepted, and its head read, long before these turns have passed.
      for (let turn = 0; turn < 100; turn += 1) await setImmediate();
      events.push('opened');
    },
  });
  await asked;
  await gateway.close();

  expect(events).toEqual(['opened', 'answered']);
});

test('a gateway whose opening fails leaves its port', async () => {
  let address = '';

  const failing = startGateway({
    endpoints,
    port: 0,
    onOpen: (url) => {
      address = url;
      return Promise.reject(new Error('no room'));
    },
  });

  await expect(failing).rejects.toThrow('no room');
  await expect(fetch(address)).rejects.toThrow();
});
