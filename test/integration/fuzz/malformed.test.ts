import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../../../infra/local/gateway/gateway-server.ts';
import { loadOperations } from '../../../infra/service/endpoints.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { type RawAnswer, sendRaw } from '../../support/raw-http.ts';
import fc from '../../support/seeded-fast-check.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { hostileBytes, hostileText } from './hostile.ts';

// Requests that no client library would send, byte by byte, through the gateway to the real functions.

const loaded = await loadOperations(join(import.meta.dirname, '../../../functions'));
const requests = 16 * Number(process.env['FUZZ_REQUESTS'] ?? 25);

let service: TestService;
let admin: TestUser;
let gateway: RunningGateway;
let project: string;
beforeAll(async () => {
  service = await testService({ LOG_LEVEL: 'error' });
  admin = await service.user('admin', 'ada');
  project = await newProject(service, admin);
  // There is no Batch here, which would be an honest 503.
  const submits = /^(?:train|prune|quantize|cancel|createPrun|createQuant)/i;
  const endpoints = loaded
    .filter(({ endpoint }) => !submits.test(endpoint.name))
    .map((one) => ({ ...one, handler: lambda(one.endpoint, service.environment) }));
  const limits = { perSecond: 1e6, burst: 1e6, waiting: 1_000 };
  gateway = await startGateway({ endpoints, port: 0, headersTimeout: 300, anonymousTimes: 1e6, limits });
});
afterAll(() => gateway.close());

const latin1 = (text: string): string => Buffer.from(text.toWellFormed()).toString('latin1');
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** A piece of a request target: encoded, encoded twice, as its bytes are, or a broken escape. */
const piece: fc.Arbitrary<string> = fc.oneof(
  hostileText.map(encoded),
  hostileText.map((text) => encoded(encoded(text))),
  hostileText.map((text) => latin1(text).replace(/[\r\n]/g, '')),
  fc.constantFrom(
    '%',
    '%zz',
    '%2',
    '%ED%A0%80',
    '%C0%AF',
    '%00',
    '%0d%0a',
    '%u0041',
    '%2F',
    '%252F',
    '%25',
    '+',
  ),
);

const methods = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'get',
  'A B',
  '',
];

const target: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...loaded.map(({ endpoint }) => endpoint.path)),
    fc.infiniteStream(piece),
    fc.boolean(),
    fc.array(fc.tuple(piece, piece), { maxLength: 3 }),
    fc.constantFrom('', '', '', '/', '//', '#a', 'http://localhost/x', '*', '\\', '/../'),
  )
  .map(([path, pieces, isKnown, query, extra]) => {
    const filled = path.replace(/\{(.+?)\+?\}/g, (_, name: string) => {
      if (name === 'project_id' && isKnown) return 'PROJECT';
      return String(pieces.next().value);
    });
    const text = query.map(([name, value]) => `${name}=${value}`).join('&');
    return `${filled}${extra}${text === '' ? '' : `?${text}`}`;
  });

const headerLine: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        ...[
          'Authorization',
          'Accept',
          'Accept-Encoding',
          'If-Match',
          'If-None-Match',
          'Idempotency-Key',
          'X-Fields',
        ],
        ...[
          'Origin',
          'Content-Type',
          'Content-Length',
          'Transfer-Encoding',
          'Content-Encoding',
          'Expect',
          'Range',
        ],
        ...[
          'Cookie',
          'Host',
          'Upgrade',
          'Connection',
          'Sec-Fetch-Site',
          'X-HTTP-Method-Override',
          'Forwarded',
        ],
      ),
      fc.oneof(
        hostileText.map(latin1),
        fc.constantFrom('gzip', '0', '5', '-1', '1e3', 'chunked', '*', '100-continue'),
      ),
    )
    .map(([name, value]) => `${name}: ${value}`),
  hostileText.map(latin1),
  fc.constantFrom(
    'Content-Type: application/json',
    'Content-Type: application/x-www-form-urlencoded',
    ' folded',
  ),
);

const body: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constant(new Uint8Array()),
  hostileBytes,
  fc.json().map((text) => Buffer.from(text)),
  fc
    .tuple(piece, piece)
    .map(([name, value]) => Buffer.from(`${name}=${value}&grant_type=password`, 'latin1')),
  fc
    .constantFrom('{"username":"\\ud800"}', `{"a":${'['.repeat(60_000)}`, '5\r\nabcde\r\n0\r\n\r\n', 'zz\r\n')
    .map((text) => Buffer.from(text)),
);

const request = fc.record({
  method: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...methods.slice(0, 5)) },
    fc.constantFrom(...methods),
  ),
  target,
  headers: fc.array(headerLine, { maxLength: 3 }),
  body,
  isSigned: fc.boolean(),
  length: fc.constantFrom('right', 'right', 'right', 'none', 'short', 'long', 'chunked'),
  version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.10', ''),
});

type Drawn = typeof request extends fc.Arbitrary<infer T> ? T : never;

function bytesOf({ method, target: path, headers, body: sent, isSigned, length, version }: Drawn): Buffer {
  const lengths: Readonly<Record<string, readonly string[]>> = {
    right: [`Content-Length: ${sent.length}`],
    short: [`Content-Length: ${Math.max(0, sent.length - 1)}`],
    long: [`Content-Length: ${sent.length + 5}`],
    chunked: ['Transfer-Encoding: chunked'],
  };
  const lines = [
    `${method} ${path.replace('PROJECT', project)} ${version}`,
    'Host: localhost',
    ...(isSigned ? [`Authorization: Bearer ${admin.token}`] : []),
    ...(lengths[length] ?? []),
    ...headers,
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), sent]);
}

/** Sent in lanes, because some of them wait for the gateway to give them up. */
async function sendAll(all: readonly Drawn[]): Promise<{ sent: Drawn; answer: RawAnswer | undefined }[]> {
  const answers: { sent: Drawn; answer: RawAnswer | undefined }[] = [];
  const left = [...all];
  const lane = async () => {
    for (let sent = left.pop(); sent !== undefined; sent = left.pop()) {
      // A connection may be reset while its client still sends what was refused.
      const answer = await sendRaw(gateway.url, bytesOf(sent)).catch(() => undefined);
      answers.push({ sent, answer });
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  return answers;
}

test(
  'whatever bytes come, they are answered by the service, and by no error of its own',
  async () => {
    // Few drawn requests are plain enough to be asked who sends them.
    const stranger: Drawn = {
      ...{ method: 'GET', target: '/projects/', headers: [], body: new Uint8Array() },
      ...{ isSigned: false, length: 'none', version: 'HTTP/1.1' },
    };
    const drawn = [...fc.sample(request, requests), stranger];
    const answers = await sendAll(drawn);
    const bad = answers.filter(
      ({ answer }) => answer !== undefined && !(answer.status >= 100 && answer.status < 500),
    );
    expect(
      bad.map(({ sent, answer }) => [answer?.status, answer?.body, bytesOf(sent).toString('latin1')]),
    ).toEqual([]);
    const statuses = new Set(answers.map(({ answer }) => answer?.status));
    for (const status of [400, 401, 404, 405]) expect(statuses).toContain(status);
    const health = await fetch(`${gateway.url}/health`);
    expect(health.status).toBe(200);
  },
  60_000 + 100 * requests,
);
