import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  bytes: Buffer;
}

/** One answer of a server: what it does with a request. */
export type Turn = (response: ServerResponse, request: Received) => void;

/** A server that answers one request after the other by its turns, the last of them again and again. */
export async function served(...turns: readonly Turn[]): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const bytes = await buffer(request);
    const one = { method, url, headers, body: bytes.toString(), bytes };
    received.push(one);
    turns[Math.min(received.length, turns.length) - 1]?.(response, one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received };
}

export const json =
  (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Turn =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));

/** The connection is lost before anything is answered. */
export const lost: Turn = (response) => response.destroy();
