import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Result } from '../../../shared/endpoint/exchange.ts';
import { createLogger } from '../../../shared/endpoint/log.ts';
import { Problem } from '../../../shared/endpoint/problem.ts';
import { renderError } from '../../../shared/endpoint/render-error.ts';
import type { LoadedEndpoint } from '../../endpoints.ts';
import { answerClientError, headMaxBytes, headTooLarge } from './client-error.ts';
import { hostRule } from './host-rule.ts';
import { invoke } from './invoke.ts';
import { proxyEvent } from './proxy-event.ts';
import { announcesBody, ClientGone, checkAnnouncedLength, receiveBody } from './receive-body.ts';
import { createRouter, type Leaf } from './router.ts';
import { send, sendAndClose } from './send.ts';

export interface GatewayOptions {
  endpoints: readonly LoadedEndpoint[];
  /** 0 takes any free one. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Host names, with or without a port, by which the gateway may be called besides those of the loopback address. */
  allowedHosts?: readonly string[];
  /** Milliseconds that a function has to answer; default 29 s. */
  timeLimit?: number;
  /** Milliseconds in which the headers of a request must have come; default 10 s. The body has six times as long. */
  headersTimeout?: number;
}

export interface RunningGateway {
  url: string;
  /** Takes no more requests, lets those in progress finish for up to five seconds, then stops. */
  close(): Promise<void>;
}

const closeMilliseconds = 5_000;
const nothing = new Uint8Array();

/** Header lines in pairs, as they came; throws where they are too large or do not name one host of this server. */
function checkedHeaders(request: IncomingMessage, admits: (host: string) => boolean): [string, string][] {
  const { method = '', url = '', rawHeaders } = request;
  const pairs: [string, string][] = [];
  const hosts: string[] = [];
  // "GET /path HTTP/1.1" and the blank line at the end; node hands over header bytes as latin1, one unit each.
  let bytes = method.length + url.length + 12 + 2;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    bytes += name.length + value.length + 4;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts.push(value);
    pairs.push([name, value]);
  }
  if (bytes > headMaxBytes) throw headTooLarge();
  const [host] = hosts;
  if (host === undefined || hosts.length > 1) {
    throw new Problem('bad-request', 'A request must have one Host header.');
  }
  if (!admits(host)) {
    throw new Problem('forbidden', 'The Host header does not name this server; call it by its own address.');
  }
  return pairs;
}

function endpointOf(leaf: Leaf | undefined, method: string, path: string): LoadedEndpoint {
  if (leaf === undefined) throw new Problem('not-found', `There is nothing at ${path}.`);
  const loaded = leaf.methods.get(method);
  if (loaded !== undefined) return loaded;
  const allowed = [...leaf.methods.keys()].sort().join(', ');
  throw new Problem('method-not-allowed', `${method} is not served at ${path}; allowed are ${allowed}.`, {
    headers: { Allow: allowed },
  });
}

/** Serves endpoints over HTTP as API Gateway and Lambda would. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { endpoints, port, host = '127.0.0.1', allowedHosts = [], headersTimeout = 10_000 } = options;
  const route = createRouter(endpoints);
  const admits = hostRule(allowedHosts);
  const log = createLogger('warn', (line) => process.stderr.write(line));
  const latest = new WeakMap<Duplex, ServerResponse>();

  async function answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) {
    const headers = checkedHeaders(request, admits);
    const { method = '', url = '' } = request;
    if (!url.startsWith('/')) throw new Problem('bad-request', 'The request target must be a path.');
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const query = mark === -1 ? '' : url.slice(mark + 1);
    const match = route(path);
    const loaded = endpointOf(match?.leaf, method, path);
    if (expectsContinue) {
      checkAnnouncedLength(request);
      response.writeContinue();
    }
    const body = announcesBody(request) ? await receiveBody(request) : nothing;
    const plain = { method, path, query, headers, body, sourceIp: request.socket.remoteAddress ?? '' };
    const event = proxyEvent(plain, match?.leaf.resource ?? '', match?.parameters ?? {});
    return invoke(loaded, event, options.timeLimit);
  }

  async function serve(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) {
    latest.set(request.socket, response);
    // A client that goes away in mid-answer is nobody's error.
    response.on('error', () => response.destroy());
    let result: Result;
    try {
      result = await answer(request, response, expectsContinue);
    } catch (error) {
      if (error instanceof ClientGone) return;
      result = renderError(error, randomUUID(), log);
    }
    if (response.destroyed) return;
    if (request.complete || !announcesBody(request)) send(response, result);
    else sendAndClose(request, response, result);
  }

  const server = createServer({
    // More than is allowed, so that what is just beyond it is still measured and named.
    maxHeaderSize: 2 * headMaxBytes,
    // Refused by this server itself, in the shape of its problems.
    requireHostHeader: false,
    headersTimeout,
    requestTimeout: 6 * headersTimeout,
    connectionsCheckingInterval: Math.min(1_000, headersTimeout),
    keepAliveTimeout: 60_000,
    noDelay: true,
  });
  server.maxHeadersCount = 0;
  server.on('request', (request, response) => void serve(request, response, false));
  server.on('checkContinue', (request, response) => void serve(request, response, true));
  server.on('clientError', (error, socket) => {
    const response = latest.get(socket);
    // Nothing may get in between an answer that is under way.
    if (response?.headersSent === true && !response.writableFinished) socket.destroy();
    else answerClientError(error, socket, log);
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the gateway has no port');

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      const timer = setTimeout(() => server.closeAllConnections(), closeMilliseconds);
      await closed;
      clearTimeout(timer);
    },
  };
}
