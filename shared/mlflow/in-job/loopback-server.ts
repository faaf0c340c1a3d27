import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ServiceError } from '../../core/service-error.ts';
import type { RawRequest } from '../../http/definition/endpoint-input.ts';

export interface LoopbackServer {
  url: string;
  /** Bearer token that a client must send. */
  token: string;
  /** Refuse new requests, and resolve after all received requests are answered. */
  close(): Promise<void>;
}

/** A response of the loopback server. */
export interface LoopbackAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | string;
}

/** Start a server on the loopback address. It serves clients that have its token. */
export async function startLoopbackServer(options: LoopbackOptions): Promise<LoopbackServer> {
  const token = randomBytes(32).toString('base64url');
  const expected = digestOf(`Bearer ${token}`);
  const bodies = new Slots(bounds.bodies);
  const files = new Slots(bounds.files);
  const active = new Set<Promise<void>>();
  let isClosing = false;

  async function handle(request: IncomingMessage): Promise<LoopbackAnswer> {
    if (!timingSafeEqual(digestOf(request.headers.authorization ?? ''), expected))
      throw new ServiceError(
        'unauthenticated',
        'This server serves one job and requires the token of that job.',
      );
    const method = methods.find((one) => one === request.method);
    if (method === undefined) throw new ServiceError('bad-request', 'This method is not served here.');
    const [path = '', query = ''] = (request.url ?? '').replace(/^\/+/, '').split(/\?(.*)/s);
    const file = options.filePath({ method, path });
    if (file !== undefined) return files.use(() => options.receive(file, request));
    return bodies.use(async () => {
      const bytes = await readBody(request);
      const mediaType = request.headers['content-type'] ?? '';
      return options.answer({ method, path, query: new URLSearchParams(query), mediaType, bytes });
    });
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers, body } = await handle(request).catch(options.fail);
    // If the body was not read to its end, the connection cannot be reused.
    const isRead = request.complete;
    response.writeHead(status, {
      ...headers,
      'Content-Length': String(Buffer.byteLength(body)),
      ...(!isRead && { Connection: 'close' }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
    await finished(response).catch(() => undefined);
    if (!isRead) request.destroy();
  }

  const server = createServer(
    {
      maxHeaderSize: bounds.headerBytes,
      headersTimeout: bounds.headersMilliseconds,
      requestTimeout: 0,
      keepAliveTimeout: bounds.idleMilliseconds,
      connectionsCheckingInterval: bounds.headersMilliseconds,
    },
    (request, response) => {
      if (isClosing) return void request.destroy();
      const done = respond(request, response).finally(() => active.delete(done));
      active.add(done);
    },
  );
  server.maxConnections = bounds.connections;
  server.setTimeout(bounds.idleMilliseconds);
  server.on('clientError', (_, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    token,
    async close() {
      isClosing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      // The program has ended, so it will not finish incomplete requests.
      server.closeAllConnections();
      await Promise.all(active);
      await closed;
    },
  };
}

interface LoopbackOptions {
  answer(request: RawRequest): Promise<LoopbackAnswer>;
  /** Receive the bytes of a file of any size. */
  receive(path: string, bytes: Readable): Promise<LoopbackAnswer>;
  /** Path of a request whose body is a file; undefined for all other requests. */
  filePath(request: Pick<RawRequest, 'method' | 'path'>): string | undefined;
  fail(error: unknown): LoopbackAnswer;
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Let `count` callers act at once. Others wait for their turn. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async use<T>(act: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/**
 * Limits on the resources that a job's program can bind in the supervisor: connections, bodies and files at once.
 */
const bounds = {
  connections: 64,
  bodies: 8,
  bodyBytes: 2_000_000,
  files: 4,
  /** Maximum bytes of the request line and headers. */
  headerBytes: 16_384,
  headersMilliseconds: 10_000,
  bodyMilliseconds: 30_000,
  /** Maximum milliseconds without a byte of a file, or without a request on an open connection. */
  idleMilliseconds: 60_000,
} as const;

const methods = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'] as const;

/**
 * Read the body of a request.
 * @throws ServiceError `too-large`, `bad-request` for a body that does not arrive in time
 */
async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > bounds.bodyBytes) throw tooLarge();
  const timer = setTimeout(() => request.destroy(), bounds.bodyMilliseconds);
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bounds.bodyBytes) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
  }
}

const tooLarge = (): ServiceError =>
  new ServiceError(
    'too-large',
    `A request to the server of a job may have at most ${bounds.bodyBytes} bytes.`,
  );
