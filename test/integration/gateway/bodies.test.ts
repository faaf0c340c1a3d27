import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as serveModels } from '../../../functions/serving/serve-models.endpoint.ts';
import { endpoint as putPicture } from '../../../functions/users/pictures/put-profile-picture.endpoint.ts';
import { type RunningGateway, startGateway } from '../../../infra/local/gateway/gateway-server.ts';
import { setPassword } from '../../../shared/data/accounts/change-user.ts';
import { bodyMaxBytes } from '../../../shared/http/definition/endpoint-input.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';

const mebibyte = 1024 * 1024;
/** Room for the bodies of those who have signed in: 6 MiB; of anybody: 2 MiB. */
const bodyBytes = 8 * mebibyte;
const zeros = Buffer.alloc(4 * mebibyte);

let service: TestService;
let user: TestUser;
let gateway: RunningGateway;
let received = 0;
/** Times that a function was asked whether it refuses the sender of a body that has not come. */
let asked = 0;
beforeAll(async () => {
  service = await testService({ LOG_LEVEL: 'error' });
  user = await service.user('developer', 'ada');
  const all: AnyEndpoint[] = [createToken, putConfig, putPicture, listProjects, serveModels];
  const endpoints = all.map((endpoint) => {
    const handler = lambda(endpoint, service.environment);
    const counted: typeof handler = (event, context) => {
      received += 1;
      return handler(event, context);
    };
    const refuse: typeof handler.refuse = async (event) => {
      asked += 1;
      return handler.refuse?.(event);
    };
    return { file: endpoint.name, endpoint, handler: Object.assign(counted, { refuse }) };
  });
  gateway = await startGateway({ endpoints, port: 0, bodyBytes, anonymousTimes: 1_000 });
});
afterAll(() => gateway.close());

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Sends a head and so many bytes of a body, and nothing after them. Answers the status line, when it comes. */
function begin(head: readonly string[], bytes: number): { status(): number | undefined } {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.write(`${[...head, 'Host: localhost'].join('\r\n')}\r\n\r\n`);
  socket.write(zeros.subarray(0, bytes));
  return { status: () => (text === '' ? undefined : Number(text.split(' ')[1])) };
}

const token = (bearer: string) => `Authorization: Bearer ${bearer}`;
const picture = 'PUT /users/ada/profile_picture/ HTTP/1.1';
const whole = `Content-Length: ${bodyMaxBytes(putPicture.input)}`;
const type = 'Content-Type: image/png';

test.each([
  ['without a token', [picture, whole, type], 401],
  ['with a bad token', [picture, whole, type, token('nobody.x')], 401],
  ['with a bad token, of no known length', [picture, 'Transfer-Encoding: chunked', type, token('x')], 401],
  ['with a bad token, asking first', [picture, whole, type, token('x'), 'Expect: 100-continue'], 401],
  ['larger than its operation takes', ['POST /auth/token HTTP/1.1', 'Content-Length: 9000'], 413],
  [
    'larger than another operation takes',
    ['PUT /projects/x/configs/y HTTP/1.1', 'Content-Length: 300000'],
    413,
  ],
  ['where none is taken', ['GET /projects HTTP/1.1', 'Content-Length: 100000'], 413],
])('a body %s is refused before it has come', async (_, head, status) => {
  const before = received;
  const request = begin(head, 0);
  await expect.poll(() => request.status()).toBe(status);
  expect(received).toBe(before);
});

test('a body of an inference that is too large is refused in the form of the protocol', async () => {
  const before = received;

  const answer = await fetch(`${gateway.url}/v2/models/digits/infer`, {
    method: 'POST',
    body: new Uint8Array(5_000_000),
  });

  expect(answer.status).toBe(413);
  const body: object = JSON.parse(await answer.text());
  expect(Object.keys(body)).toEqual(['error']);
  expect(body).toMatchObject({ error: expect.stringMatching(/4400000 bytes.*gzip.*binary tensors/s) });
  expect(received).toBe(before);
});

test('the sender of a large body is asked for before it comes, also one who was admitted before', async () => {
  const other = await service.user('developer', 'bob');
  const put = async () => {
    const before = asked;
    const { status } = await fetch(`${gateway.url}/users/bob/profile_picture`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${other.token}`, 'Content-Type': 'image/png' },
      body: zeros.subarray(0, 100_000),
    });
    return { status, asked: asked - before };
  };
  expect(await put()).toEqual({ status: 415, asked: 1 });
  expect(await put()).toEqual({ status: 415, asked: 1 });
  await setPassword(service.accounts, other.user, 'another hash', new Date().toISOString());
  expect(await put()).toEqual({ status: 401, asked: 1 });
});

test('bodies that do not end are given up for others, and never take more than their room', async () => {
  const head = [picture, whole, type, token(user.token)];
  const slow = Array.from({ length: 48 }, () => begin(head, 4 * mebibyte - 1));
  // One has room: with the next one it would be more than 6 MiB.
  const answered = () => slow.filter(({ status }) => status() !== undefined);
  await expect.poll(() => answered().length).toBeGreaterThanOrEqual(47);
  expect(new Set(answered().map(({ status }) => status()))).toEqual(new Set([503]));

  const size = { width: 64, height: 64, channels: 3, background: '#5a5a5a' } as const;
  const png = await sharp({ create: size }).png().toBuffer();
  const padded = Buffer.concat([png, Buffer.alloc(3 * mebibyte)]);
  const put = async () => {
    const { status } = await fetch(`${gateway.url}/users/ada/profile_picture`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${user.token}`, 'Content-Type': 'image/png' },
      body: padded,
    });
    return status;
  };
  // The last of them may begin after this one, and is then the one for which others are given up.
  await expect.poll(put).toBe(200);
});

test('who sends slowly without having signed in keeps nobody from signing in', async () => {
  const head = ['POST /auth/token HTTP/1.1', 'Content-Length: 8192'];
  const slow = Array.from({ length: 300 }, () => begin(head, 8191));
  await Promise.all(sockets.map(async (socket) => socket.connecting && once(socket, 'connect')));
  await expect.poll(() => slow.some(({ status }) => status() === 503)).toBe(true);
  const signIn = async () => {
    const answer = await fetch(`${gateway.url}/auth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', username: 'nobody', password: 'wrong' }),
    });
    return ((await answer.json()) as { error?: string }).error;
  };
  await expect.poll(signIn).toBe('invalid_grant');
});
