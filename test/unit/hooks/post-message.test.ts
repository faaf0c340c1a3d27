import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { postMessage } from '../../../shared/hooks/post-webhook.ts';

const servers: ReturnType<typeof createServer>[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const message = (url: string) => ({ url, headers: { 'Content-Type': 'application/json' }, body: '{}' });

test('the connection goes to the address that was checked, whatever the name resolves to a moment later', async () => {
  const hosts: (string | undefined)[] = [];
  const port = await listening((request, response) => {
    hosts.push(request.headers.host);
    response.end();
  });
  let lookups = 0;
  const resolve = async () => {
    lookups += 1;
    return [{ address: lookups === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }];
  };
  const host = `hooks.example:${port}`;
  const answer = await postMessage(message(`http://${host}/x`), { admitted: [host], resolve });

  expect(answer).toEqual({ status: 200, error: null, retryAfter: undefined });
  expect([lookups, hosts]).toEqual([1, [host]]);
});

test('a name that now resolves to this machine reaches nothing', async () => {
  let requests = 0;
  const port = await listening((_, response) => {
    requests += 1;
    response.end();
  });
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const answer = await postMessage(message(`https://rebound.example:${port}/x`), { admitted: [], resolve });

  expect(answer.error).toBe('The name rebound.example has the address 127.0.0.1, which is not public.');
  expect(requests).toBe(0);
});

test('a receiver that never answers is left', async () => {
  const port = await listening(() => {});
  const host = `127.0.0.1:${port}`;
  const answer = await postMessage(message(`http://${host}/secret`), { admitted: [host], seconds: 0.2 });

  expect(answer).toMatchObject({ status: null, error: 'The receiver did not answer within 0.2 seconds.' });
});

test('a resolver that never answers is left', async () => {
  const resolve = () => new Promise<never>(() => {});
  const answer = await postMessage(message('https://slow.example/secret'), {
    admitted: [],
    resolve,
    seconds: 0.2,
  });

  expect(answer.error).toBe('The receiver did not answer within 0.2 seconds.');
});

test('a connection that fails is named by its code, without the URL', async () => {
  const port = await listening(() => {});
  servers.at(-1)?.close();
  const host = `127.0.0.1:${port}`;
  const answer = await postMessage(message(`http://${host}/secret`), { admitted: [host] });

  expect(answer.error).toBe('The connection failed with ECONNREFUSED.');
});

test('a refusal shows the beginning of the answer in one line, and when to try again', async () => {
  const port = await listening((_, response) => {
    response.writeHead(429, { 'Retry-After': '30' }).end(`too\n\u001b[31mmany ${'x'.repeat(9000)}`);
  });
  const host = `127.0.0.1:${port}`;
  const answer = await postMessage(message(`http://${host}/`), { admitted: [host] });

  expect(answer).toMatchObject({ status: 429, retryAfter: 30 });
  expect(answer.error).toMatch(/^The receiver answered 429: too \[31mmany x+\.$/);
  expect(answer.error?.length).toBeLessThan(250);
});
