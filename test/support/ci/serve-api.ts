import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { PublishedApi } from './published-api.ts';

/** What a provider does with a request. */
export interface Acted {
  status: number;
  values: unknown;
  headers?: Record<string, string>;
}

interface Sent {
  /** Parameters of the path. */
  path: Record<string, string>;
  url: URL;
  sent: { body?: string } | undefined;
  authorization: string | undefined;
}

/** Serve published operations until the test ends, and check requests and answers by their schemas. @returns the address */
export async function serveApi(
  api: PublishedApi,
  act: (name: string, sent: Sent) => Promise<Acted>,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method = '', url: target = '' } = request;
    const url = new URL(target, 'http://loopback');
    const content = await text(request);
    const sent = content === '' ? undefined : JSON.parse(content);
    const matched = api.match(method, url, sent);
    if (matched === undefined) {
      response.writeHead(500).end();
      return;
    }
    const authorization = request.headers.authorization ?? String(request.headers['private-token'] ?? '');
    const {
      status,
      values,
      headers = {},
    } = await act(matched.name, { ...matched, url, sent, authorization });
    const answer = api.answer(matched.name, status, values);
    response.writeHead(status, headers).end(answer === undefined ? '' : JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
