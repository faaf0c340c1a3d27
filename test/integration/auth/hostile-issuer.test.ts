import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoint as beginDevice } from '../../../functions/auth/oidc/begin-device-sign-in.endpoint.ts';
import { endpoint as finishSignIn } from '../../../functions/auth/oidc/finish-sign-in.endpoint.ts';
import { endpoint as redeemSignIn } from '../../../functions/auth/oidc/redeem-sign-in.endpoint.ts';
import { endpoint as startSignIn } from '../../../functions/auth/oidc/start-sign-in.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { type TestService, testService } from '../../support/service.ts';
import { json } from '../users/body.ts';
import { serviceUrl } from './people-issuer.ts';

type Answer = (response: ServerResponse) => void;

/** An issuer that answers with whatever a test says, and signs anything. */
async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'a', alg: 'RS256' };
  const issuer = { url: '', device: {} as object, answer: ((response) => response.end()) as Answer };
  const send = (response: ServerResponse, value: unknown) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path.startsWith('/.well-known'))
      return void send(response, {
        issuer: issuer.url,
        ...{ jwks_uri: `${issuer.url}/keys`, authorization_endpoint: `${issuer.url}/enter` },
        ...{ token_endpoint: `${issuer.url}/token`, device_authorization_endpoint: `${issuer.url}/device` },
      });
    if (path === '/keys') return void send(response, { keys: [jwk] });
    if (path === '/device') return void send(response, issuer.device);
    issuer.answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { issuer, send, privateKey, pem: await exportSPKI(publicKey), server };
}

let hostile: Awaited<ReturnType<typeof startIssuer>>;
let service: TestService;
beforeAll(async () => {
  hostile = await startIssuer();
  const settings = { OIDC_ISSUER: hostile.issuer.url, OIDC_GROUPS: 'ml=developer,boss=admin' };
  service = await testService({ SERVICE_URL: serviceUrl, ...settings });
});
afterAll(() => {
  hostile.server.closeAllConnections();
  hostile.server.close();
});

const host = { Host: '127.0.0.1:4321' };

/** Sign in; `answer` gets the nonce of the sign-in. */
async function enter(answer: (nonce: string) => Promise<Answer>) {
  const begun = await service.call(startSignIn, { headers: host });
  const asked = new URL(begun.headers['location'] ?? '').searchParams;
  hostile.issuer.answer = await answer(asked.get('nonce') ?? '');
  const query = new URLSearchParams({ code: 'any', state: asked.get('state') ?? '' }).toString();
  const Cookie = begun.headers['set-cookie']?.split(';')[0] ?? '';
  return service.call(finishSignIn, { query, headers: { ...host, Cookie } });
}

const claimsOf = (nonce: string, more: object = {}) => {
  const now = Math.floor(Date.now() / 1000);
  const usual = { iss: hostile.issuer.url, aud: 'mps', sub: 'eve', iat: now, exp: now + 300 };
  return { ...usual, nonce, groups: ['ml'], ...more };
};

const answering =
  (id_token: unknown): Answer =>
  (response) =>
    hostile.send(response, { access_token: 'a', token_type: 'Bearer', id_token });

const signed = async (claims: object) =>
  answering(
    await new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'a' }).sign(hostile.privateKey),
  );

const isIn = ({ headers }: { headers: Record<string, string> }) =>
  headers['location']?.includes('#/session/') === true;

test('identity tokens that are none of this sign-in sign nobody in', async () => {
  const now = Math.floor(Date.now() / 1000);
  const changed = [
    ...[
      { iss: 'https://other.example' },
      { aud: 'other' },
      { aud: ['mps', 'other'] },
      { aud: [] },
      { aud: undefined },
    ],
    ...[
      { nonce: undefined },
      { nonce: 'other' },
      { nonce: ['x'] },
      { exp: now - 3600 },
      { exp: undefined },
      { exp: 'x' },
    ],
    ...[
      { iat: now - 90_000 },
      { nbf: now + 3600 },
      { sub: '' },
      { sub: undefined },
      { sub: 7 },
      { sub: ['eve'] },
      { sub: {} },
    ],
  ];
  const secret = new TextEncoder().encode(hostile.pem);
  const attempts: ((nonce: string) => Promise<Answer>)[] = [
    ...changed.map((more) => (nonce: string) => signed(claimsOf(nonce, more))),
    async (nonce) => answering(new UnsecuredJWT(claimsOf(nonce)).encode()),
    async (nonce) =>
      answering(
        await new SignJWT(claimsOf(nonce)).setProtectedHeader({ alg: 'HS256', kid: 'a' }).sign(secret),
      ),
    async (nonce) =>
      answering(
        await new SignJWT(claimsOf(nonce))
          .setProtectedHeader({ alg: 'RS256', kid: 'a' })
          .sign((await generateKeyPair('RS256')).privateKey),
      ),
    ...[undefined, null, 7, {}, [], '', 'a.b.c', '...', 'x'.repeat(100_000)].map(
      (token) => async () => answering(token),
    ),
  ];
  for (const attempt of attempts) {
    const answer = await enter(attempt);
    expect([302, 503]).toContain(answer.status);
    expect(isIn(answer)).toBe(false);
  }
});

test('whatever answers in place of the issuer is no fault of the service', async () => {
  const sent =
    (status: number, body: string, headers: Record<string, string> = {}): Answer =>
    (response) =>
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
  const answers: Answer[] = [
    ...[200, 201, 204, 304, 400, 401, 404, 429, 500, 503].map((status) => sent(status, '<html>')),
    ...[
      '',
      'null',
      '[]',
      '7',
      '{',
      '{"error": {}}',
      '{"error": "x"}',
      '\u0000',
      '{"__proto__": {"id_token": "x"}}',
    ].flatMap((body) => [sent(200, body), sent(400, body)]),
    sent(302, '', { Location: 'http://169.254.169.254/latest/meta-data/' }),
    sent(401, '', { 'WWW-Authenticate': 'Bearer error="x", a=' }),
    sent(200, '{}', { 'Content-Type': 'text/html' }),
    sent(200, JSON.stringify({ access_token: 'x'.repeat(50 << 20) })),
    (response) => response.destroy(),
    (response) => response.writeHead(200, { 'Content-Length': '100' }).write('{', () => response.destroy()),
  ];
  for (const answer of answers) {
    const { status, headers } = await enter(async () => answer);
    expect([302, 503]).toContain(status);
    expect(isIn({ headers })).toBe(false);
  }
  for (const device of [[], null, { device_code: 1 }, { verification_uri: {} }, {}, 'x']) {
    hostile.issuer.device = device as object;
    expect([409, 503]).toContain((await service.call(beginDevice)).status);
  }
  for (const answer of answers) {
    hostile.issuer.answer = answer;
    const device_code = 'any';
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    const { status } = await service.call(redeemSignIn, json({ grant_type, device_code }));
    expect([400, 401, 503]).toContain(status);
  }
});

test('names and groups of any kind make accounts of plain names, and give what they say alone', async () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `g${index}`);
  const people = [
    { sub: 'x'.repeat(10_000) },
    { sub: 'a\u0000b' },
    { sub: 'a' },
    { sub: '\ud800' },
    { sub: '__proto__' },
    { sub: 'boss', preferred_username: 'admin' },
    ...[
      '',
      '\u0000\u001b[31m',
      'аdmin',
      'ＡＤＭＩＮ',
      '../..',
      'x'.repeat(300),
      '-',
      '😀',
      '@',
      7,
      null,
      {},
      [],
    ].map((preferred_username, index) => ({ sub: `name-${index}`, preferred_username })),
    { sub: 'many', groups: [...many, 'ml'] },
    { sub: 'nested', groups: ['ml', ['boss'], { name: 'boss' }, 7, null] },
    { sub: 'text', groups: 'ml' },
  ];
  const seen = new Map<string, string>();
  for (const claims of people) {
    const answer = await enter((nonce) => signed(claimsOf(nonce, claims)));
    expect(isIn(answer)).toBe(true);
    const [, pageKey] = /#\/session\/(.+)$/.exec(answer.headers['location'] ?? '') ?? [];
    const Cookie = answer.headers['set-cookie']?.split(';')[0] ?? '';
    const headers = { ...host, Cookie, Authorization: `Session ${pageKey}`, 'X-Requested-With': 'test' };
    const { json: own } = await service.call(readOwnAccount, { headers });
    expect(own.account_type).toBe('developer');
    expect(own.username).toMatch(/^[a-z0-9][a-z0-9._-]{0,63}$/);
    expect([...seen.keys()]).not.toContain(own.username);
    seen.set(own.username, own.user_id);
  }
  for (const groups of [
    7,
    {},
    { boss: true },
    null,
    'boss,ml',
    [],
    ['BOSS', ' boss', 'boss\u0000'],
    '*',
    ['sub:eve', '*'],
  ]) {
    const answer = await enter((nonce) => signed(claimsOf(nonce, { sub: 'none', groups })));
    expect(answer.headers['location']).toMatch(/no-access$/);
  }
});
