import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { anyMethod } from '../../../functions/service/any-method.ts';
import { diskFullError } from '../../../shared/core/disk-fault.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { renderError } from '../../../shared/http/answer/render-error.ts';
import { bodyMaxBytes } from '../../../shared/http/definition/endpoint-input.ts';
import { withCors } from '../../../shared/http/pipeline/cors.ts';
import type { Handler } from '../../../shared/http/pipeline/lambda.ts';
import type { Result } from '../../../shared/http/pipeline/proxy-event.ts';
import type { LoadedEndpoint } from '../../service/endpoints.ts';
import { methodTable } from '../../service/routes.ts';
import { Admission, type AdmissionLimits, defaultLimits, OwnThrottles } from './admission.ts';
import { Askers } from './asker.ts';
import { invoke } from './invoke.ts';
import { makeProxyEvent } from './make-proxy-event.ts';
import {
  announcedLength,
  announcesBody,
  ByteBudget,
  ClientGoneError,
  checkAnnouncedLength,
  eventBodyMaxBytes,
  receiveEventBody,
} from './receive-event-body.ts';
import { answerClientError, headMaxBytes, hostRule, readHeaders, requireUtf8Query } from './request-head.ts';
import { createRouter } from './router.ts';
import { type OwnCall, type PublicStorage, send, sendAndClose, sendLargeBody } from './send.ts';

/** Serve endpoints over HTTP as API Gateway and Lambda do. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { endpoints, port, host = '127.0.0.1', headersTimeout = 10_000, corsOrigins = [] } = options;
  const route = createRouter(endpoints);
  const admits = hostRule(options.allowedHosts ?? []);
  const admission = new Admission({ ...defaultLimits, ...options.limits });
  const askers = new Askers();
  const otherMethods = {
    name: 'anyMethod',
    handler: anyMethod(methodTable(endpoints.map(({ endpoint }) => endpoint)), {
      CORS_ORIGINS: corsOrigins.join(','),
    }),
  };
  const throttles = new OwnThrottles(options.anonymousTimes ?? 1);
  const log = createLogger('warn', (line) => process.stderr.write(line));
  const bodyBytes = options.bodyBytes ?? defaultBodyBytes;
  // Callers who have not signed in never use the budget of callers who have.
  const budgets = { anybody: new ByteBudget(bodyBytes / 4), known: new ByteBudget((bodyBytes * 3) / 4) };
  const latest = new WeakMap<Duplex, ServerResponse>();
  let isClosing = false;
  const opened = Promise.withResolvers<void>();

  async function answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) {
    const headers = readHeaders(request, admits);
    const sourceIp = request.socket.remoteAddress ?? '';
    const asker = askers.of(headers, sourceIp);
    admission.admit(asker);
    options.onRequest?.();
    const { method = '', url = '' } = request;
    if (!url.startsWith('/')) throw new ServiceError('bad-request', 'The request target must be a path.');
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const query = mark === -1 ? '' : requireUtf8Query(url.slice(mark + 1));
    const match = route(path);
    if (match === undefined) throw new ServiceError('not-found', `There is nothing at ${path}.`);
    const { leaf, parameters } = match;
    const plain = { method, path, query, headers, sourceIp };
    const loaded = leaf.methods.get(method);
    if (loaded === undefined) {
      return invoke(otherMethods, makeProxyEvent({ ...plain, body: nothing }, leaf.resource, parameters));
    }
    const { endpoint, handler } = loaded;
    throttles.take(endpoint);
    if (options.isFull?.() === true && addsData(method, path)) throw diskFullError();
    const gone = goneSignal(response);
    const { timeLimit } = options;
    const call = (body: Uint8Array) =>
      admission.run(asker, async (park) => {
        // The client left while the request waited. Run a write nevertheless, because its request has arrived.
        if (gone.aborted && (method === 'GET' || method === 'HEAD')) throw new ClientGoneError();
        const event = makeProxyEvent({ ...plain, body }, leaf.resource, parameters);
        try {
          return await invoke({ name: endpoint.name, handler }, event, { timeLimit, gone, park });
        } finally {
          if (endpoint.allow !== 'anyone') askers.note(headers, handler.callerOf?.(event));
        }
      });
    if (!announcesBody(request)) return call(nothing);
    const length = announcedLength(request) ?? 0;
    const large =
      length > bodyMaxBytes(endpoint.input)
        ? endpoint.input.request?.largeBodies?.begin({
            method: 'PUT',
            path: Object.values(parameters)[0] ?? '',
          })
        : undefined;
    if (large !== undefined && method === 'PUT') {
      if (expectsContinue) response.writeContinue();
      const own = headers.filter(([name]) => /^(?:authorization|host)$/i.test(name));
      const call: OwnCall = (to, body) => {
        const variables = Object.fromEntries(Object.keys(parameters).map((name) => [name, to]));
        const sent = { ...plain, method: 'POST', headers: own, body: Buffer.from(JSON.stringify(body)) };
        const event = makeProxyEvent(sent, leaf.resource, variables);
        return admission.run(asker, () =>
          invoke({ name: endpoint.name, handler }, event, { timeLimit, gone }),
        );
      };
      return sendLargeBody(request, length, large, call, options.storage);
    }
    const most = Math.min(bodyMaxBytes(endpoint.input), eventBodyMaxBytes);
    checkAnnouncedLength(request, most);
    const isLarge = (announcedLength(request) ?? most) > unaskedMaxBytes;
    const isKnown = isLarge && endpoint.allow !== 'anyone';
    if (isKnown) {
      // API Gateway receives bodies before functions see them; here bodies would use this machine's memory.
      const event = makeProxyEvent({ ...plain, body: nothing }, leaf.resource, parameters);
      const refused = await admission.run(asker, async () => handler.refuse?.(event));
      if (refused !== undefined) return refused;
    }
    if (expectsContinue) response.writeContinue();
    const budget = isKnown ? budgets.known : budgets.anybody;
    const body = await receiveEventBody(request, { most, budget, stallTimeout: headersTimeout });
    try {
      return await call(body.bytes);
    } finally {
      body.release();
    }
  }

  /** Clients of some protocols expect its own form of an error, also of one that no function answers. */
  const errorBodyOf = ({ method = '', url = '' }: IncomingMessage) =>
    url.startsWith('/')
      ? route(url.replace(/\?.*/s, ''))?.leaf.methods.get(method)?.endpoint.errorBody
      : undefined;

  async function serve(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) {
    latest.set(request.socket, response);
    // A client may close the connection during the response.
    response.on('error', () => response.destroy());
    let result: Result;
    try {
      await opened.promise;
      result = await answer(request, response, expectsContinue);
    } catch (error) {
      if (error instanceof ClientGoneError) return;
      const document = renderError(error, randomUUID(), log, errorBodyOf(request));
      result = withCors(document, corsOrigins, request.headers.origin);
    }
    if (response.destroyed) return;
    if (isClosing) response.shouldKeepAlive = false;
    const deliver = request.complete || !announcesBody(request) ? send : sendAndClose;
    try {
      deliver(request, response, result);
    } catch (error) {
      // A function returned a header that HTTP does not allow. Nothing was sent yet.
      deliver(request, response, renderError(error, randomUUID(), log));
    }
  }

  const server = createServer({
    // Accept more than the limit, so that the error can name the size of a slightly larger head.
    maxHeaderSize: 2 * headMaxBytes,
    // This server refuses a missing Host header itself, with a problem document.
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
  // Ignore an unknown expectation, as RFC 9110, 10.1.1 allows. Node would answer it in its own format.
  server.on('checkExpectation', (request, response) => void serve(request, response, false));
  // CONNECT is only for proxies.
  server.on('connect', (_request, socket) => answerClientError(new Error('CONNECT'), socket, log));
  server.on('clientError', (error, socket) => {
    const response = latest.get(socket);
    // Do not write into a response that is in progress.
    if (response?.headersSent === true && !response.writableFinished) socket.destroy();
    else answerClientError(error, socket, log);
  });
  server.listen({ port, host, backlog });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the gateway has no port');
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
  try {
    await options.onOpen?.(url);
  } catch (error) {
    server.close();
    server.closeAllConnections();
    throw error;
  }
  opened.resolve();

  return {
    url,
    async close() {
      const closed = once(server, 'close');
      isClosing = true;
      server.close();
      admission.close();
      const timer = setTimeout(() => server.closeAllConnections(), closeMilliseconds);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** An endpoint and the function that answers its requests. */
export interface ServedEndpoint extends LoadedEndpoint {
  handler: Handler;
}

export interface GatewayOptions {
  endpoints: readonly ServedEndpoint[];
  /** 0 for any free port. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Host names, with or without a port, that requests may use in addition to those of the loopback address. */
  allowedHosts?: readonly string[];
  /** Time limit of a function in milliseconds; default 29 s. */
  timeLimit?: number;
  /** Time limit for the headers of a request in milliseconds; default 10 s. The body has six times as long. */
  headersTimeout?: number;
  /** Limits of requests; missing ones have their defaults. */
  limits?: Partial<AdmissionLimits>;
  /** Factor on the throttles of public operations; default 1. */
  anonymousTimes?: number | undefined;
  /** Maximum bytes of all request bodies together; default 64 MiB, a quarter of it for public operations. */
  bodyBytes?: number | undefined;
  /** Origins whose pages may read responses, including the gateway's own. Default none. */
  corsOrigins?: readonly string[];
  /** Addresses of the S3 server, if presigned URLs have one of their own. */
  storage?: PublicStorage | undefined;
  /** Whether the disk is full. Then the gateway accepts only requests that free space. */
  isFull?: () => boolean;
  /** Called once the port is known, with the address. Requests wait for its end. */
  onOpen?: (url: string) => Promise<void>;
  /** Called for each admitted request, before it is processed. */
  onRequest?: () => void;
}

export interface RunningGateway {
  url: string;
  /** Accept no more requests, let running ones finish for up to five seconds, then stop. */
  close(): Promise<void>;
}

/** Requests that free space on a full disk, or that sign in a user who will. Only these may write. */
const makesRoom = /\/(?:cancel|delete)\/?$|^\/auth\//;

const addsData = (method: string, path: string): boolean =>
  !['GET', 'HEAD', 'DELETE'].includes(method) && !makesRoom.test(path);

const defaultBodyBytes = 64 * 1024 * 1024;

const nothing = new Uint8Array();

/** Return a signal that aborts when the client closes the connection before the end of the response. */
function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** Receive bodies up to this size before the caller is known, which saves one read of the token. */
const unaskedMaxBytes = 16 * 1024;

/**
 * Maximum number of connections that wait to be accepted. Beyond it the kernel drops them unanswered, and clients
 * retry for seconds.
 */
const backlog = 4_096;

const closeMilliseconds = 5_000;
