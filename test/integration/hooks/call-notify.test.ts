import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { verifySignature } from '../../../infra/local/access/verify-signature.ts';
import { callFunction } from '../../../shared/aws/signed/call-function.ts';
import { hookedProject, type Receiver, startReceiver } from './hooked-project.ts';

interface Call {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

let receiver: Receiver;
const calls: Call[] = [];
let status = 202;

/** Lambda, as far as it takes calls of functions. */
const lambda = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  calls.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) });
  response.writeHead(status).end();
});
const endpoint = () => `http://127.0.0.1:${(lambda.address() as AddressInfo).port}`;

beforeAll(async () => {
  receiver = await startReceiver();
  await once(lambda.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  lambda.close();
  await receiver.close();
});
afterEach(() => {
  calls.length = 0;
  status = 202;
});

const hooked = async (LAMBDA_ENDPOINT: string) => {
  const hook = await hookedProject(receiver, { NOTIFY_FUNCTION: 'mps-notify', LAMBDA_ENDPOINT });
  await hook.put({});
  return hook;
};

test('a transaction with a notice calls the function that sends it, once, and waits for no answer of it', async () => {
  const hook = await hooked(endpoint());
  const experiment_id = await hook.begin('first');
  const before = calls.length;

  await hook.end(experiment_id);

  expect(calls).toHaveLength(before + 1);
  expect(calls.at(-1)).toMatchObject({
    path: '/2015-03-31/functions/mps-notify/invocations',
    headers: { 'x-amz-invocation-type': 'Event' },
    body: Buffer.from('{"repeats":true}'),
  });
});

test('a write without a notice calls nothing', async () => {
  const hook = await hooked(endpoint());
  await hook.put({ events: ['experiment.failed'] });

  await hook.end(await hook.begin('first'));

  expect(calls).toEqual([]);
});

test.each([
  ['refuses', async () => endpoint()],
  ['cannot be reached', async () => 'http://127.0.0.1:9'],
])('the write succeeds, and its message remains, if Lambda %s', async (_, endpointOf) => {
  status = 429;
  const hook = await hooked(await endpointOf());

  const ended = await hook.end(await hook.begin('first'));
  await hook.deliver();

  expect(ended.status, ended.text).toBe(200);
  expect((await hook.deliveries()).map(({ type }: { type: string }) => type)).toContain(
    'experiment.succeeded',
  );
});

test('the call is signed for Lambda in the region of the function', async () => {
  const own = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a secret' };
  const environment = { LAMBDA_ENDPOINT: endpoint(), AWS_REGION: 'eu-central-1' };

  await callFunction(environment, 'mps-notify', async () => own)();

  const [{ path, headers, body } = { path: '', headers: {}, body: Buffer.of() }] = calls;
  const scope = { region: 'eu-central-1', service: 'lambda' } as const;
  expect(() => verifySignature({ method: 'POST', path, headers, body }, scope, own)).not.toThrow();
});
