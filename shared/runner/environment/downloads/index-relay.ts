import { createHash } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  Agent as PlainAgent,
  get as plainGet,
  type ServerResponse,
} from 'node:http';
import { Agent as SecureAgent, get as secureGet } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../../../core/error-text.ts';
import type { DownloadCache, DownloadSource } from './download-cache.ts';
import { type IndexedFile, placeFiles } from './index-page.ts';

interface PlacedFile extends IndexedFile {
  index: string;
}

/** Number of files from the cache and from the index. */
interface RelayCounts {
  cached: number;
  fetched: number;
  cachedBytes: number;
}

/** The operator's connection settings for package indexes. */
export interface UpstreamSettings {
  /** Certificates in PEM; Node's own by default. */
  ca?: string | undefined;
  /** HTTP_PROXY, HTTPS_PROXY, NO_PROXY. */
  proxies: Readonly<Record<string, string>>;
}

/** Largest index page in bytes. The largest on PyPI has 30 MB. */
const maxPageBytes = 128 * 1024 * 1024;

/**
 * A proxy of package indexes for one installer. It forwards pages and serves files from the cache of downloads. It
 * listens on the loopback address under a secret path, and fetches only pages of its indexes and the files named
 * in them.
 */
export class IndexRelay {
  /** By their digests, because uv keeps what came from one under its URL. */
  readonly #indexes: ReadonlyMap<string, string>;
  readonly #cache: DownloadCache;
  readonly #upstream: Upstream;
  readonly #token: string;
  readonly #files: PlacedFile[] = [];
  readonly #ids = new Map<string, number>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly counts: RelayCounts = { cached: 0, fetched: 0, cachedBytes: 0 };
  /** The first error of a request. */
  failure: string | undefined;

  /** @param token its secret path */
  constructor(indexes: readonly string[], cache: DownloadCache, settings: UpstreamSettings, token: string) {
    this.#token = token;
    this.#indexes = new Map(
      indexes.map((url) => (url.endsWith('/') ? url : `${url}/`)).map((url) => [digestOf(url), url] as const),
    );
    this.#cache = cache;
    this.#upstream = new Upstream(settings);
  }

  /** Start to listen and return the URL of each index. */
  async start(): Promise<string[]> {
    const listen = (port: number) =>
      new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject).listen(port, '127.0.0.1', resolve);
      });
    // Another run of this host may have the usual port: uv then downloads again.
    await listen(usualPort).catch(() => listen(0));
    const { port } = this.#server.address() as AddressInfo;
    return [...this.#indexes.keys()].map(
      (digest) => `http://127.0.0.1:${port}/${this.#token}/index/${digest}/`,
    );
  }

  /** End every connection, and wait until the downloads are stored. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
    this.#upstream.close();
    await this.#cache.settle();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { pathname } = new URL(request.url ?? '/', 'http://relay');
      const [, token, kind, number, ...rest] = pathname.split('/');
      if (token !== this.#token || request.method !== 'GET') {
        response.writeHead(token === this.#token ? 405 : 404).end();
      } else if (kind === 'index') {
        await this.#page(this.#indexes.get(number ?? ''), rest.join('/'), request, response);
      } else if (kind === 'file') {
        await this.#file(this.#files[Number(number)], rest.at(-1) ?? '', response);
      } else response.writeHead(404).end();
    } catch (error) {
      this.failure ??= errorText(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(error instanceof UpstreamError ? error.message : '');
    }
  }

  async #page(
    index: string | undefined,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (index === undefined || !/^[A-Za-z0-9._-]*\/?$/.test(path)) {
      response.writeHead(404).end();
      return;
    }
    const accept = request.headers.accept ?? 'text/html';
    const page = await this.#fetchPage(index, path, accept);
    if (page.status !== 200) {
      response.writeHead(page.status).end();
      return;
    }
    const text = placeFiles(page, (file) => this.#place(file, index, page.isJson));
    response.writeHead(200, { 'content-type': page.type }).end(text);
  }

  async #fetchPage(index: string, path: string, accept: string): Promise<IndexPage> {
    const { message, url } = await this.#upstream.get(new URL(path, index).href, index, accept);
    const { statusCode: status = 502, headers } = message;
    const type = headers['content-type'] ?? 'text/html';
    if (status !== 200) {
      message.resume();
      return { status, type, text: '', isJson: false, url };
    }
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of message as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > maxPageBytes) throw new UpstreamError('its page is too large');
      parts.push(part);
    }
    return { status, type, text: Buffer.concat(parts).toString('utf8'), isJson: /json/i.test(type), url };
  }

  /** Return the path of a file on this relay; null for a link that is not a file. */
  #place(file: IndexedFile, index: string, isJson: boolean): string | null {
    const name = new URL(file.url).pathname.split('/').at(-1) ?? '';
    if (name === '' || !isReachable(file.url, index)) return null;
    const known = this.#ids.get(file.url);
    const id = known ?? this.#files.push({ ...file, index }) - 1;
    if (known === undefined) this.#ids.set(file.url, id);
    const path = `/${this.#token}/file/${id}/${name}`;
    // Readers of JSON pages may expect absolute URLs.
    const { port } = this.#server.address() as AddressInfo;
    return isJson ? `http://127.0.0.1:${port}${path}` : path;
  }

  async #fetch(file: PlacedFile, suffix: string): Promise<DownloadSource & { status: number }> {
    const { message } = await this.#upstream.get(`${file.url}${suffix}`, file.index, '*/*');
    const { statusCode: status = 502, headers } = message;
    const length = Number(headers['content-length']);
    const size = Number.isSafeInteger(length) && length >= 0 ? length : undefined;
    return { body: message, size, from: 'index', status };
  }

  async #file(file: PlacedFile | undefined, name: string, response: ServerResponse): Promise<void> {
    if (file === undefined) {
      response.writeHead(404).end();
      return;
    }
    const isMetadata = name.endsWith('.metadata') && !new URL(file.url).pathname.endsWith('.metadata');
    const { sha256 } = file;
    let status = 200;
    const fetch = async () => {
      const fetched = await this.#fetch(file, isMetadata ? '.metadata' : '');
      status = fetched.status;
      return fetched;
    };
    const isKept = sha256 !== undefined && !isMetadata;
    const source = isKept ? await this.#cache.find(sha256, fetch) : await fetch();
    if (!isMetadata && status === 200) this.#count(source);
    response.writeHead(status, {
      'content-type': 'application/octet-stream',
      ...(source.size !== undefined && { 'content-length': source.size }),
    });
    const bytes = isKept && status === 200 ? this.#cache.kept(sha256, source) : source.body;
    await pipeline(Readable.from(bytes, { objectMode: false }), response).finally(() =>
      source.body.destroy(),
    );
  }

  #count({ from, size = 0 }: DownloadSource): void {
    if (from === 'index') this.counts.fetched += 1;
    else {
      this.counts.cached += 1;
      this.counts.cachedBytes += size;
    }
  }
}

const digestOf = (url: string): string => createHash('sha256').update(url).digest('hex').slice(0, 32);

const usualPort = 41_977;

interface IndexPage {
  status: number;
  type: string;
  text: string;
  isJson: boolean;
  /** Its URL after redirects. */
  url: string;
}

interface UpstreamAnswer {
  message: IncomingMessage;
  /** The final URL after redirects. */
  url: string;
}

const maxRedirects = 5;

const idleMilliseconds = 60_000;

/** Sends requests to package indexes over keep-alive connections. */
class Upstream {
  readonly #plain: PlainAgent;
  readonly #secure: SecureAgent;

  constructor({ ca, proxies }: UpstreamSettings) {
    const shared = { keepAlive: true, maxSockets: 16, proxyEnv: proxies };
    this.#plain = new PlainAgent(shared);
    this.#secure = new SecureAgent({ ...shared, ...(ca !== undefined && { ca }) });
  }

  /** @param index its user and password are sent only to its own origin @throws UpstreamError */
  async get(url: string, index: string, accept: string): Promise<UpstreamAnswer> {
    let at = url;
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      if (!isReachable(at, index)) throw new UpstreamError(`${new URL(at).origin} is not reachable by https`);
      const message = await this.#once(at, index, accept);
      const { statusCode = 0, headers } = message;
      if (statusCode < 300 || statusCode >= 400 || headers.location === undefined)
        return { message, url: at };
      message.resume();
      if (!URL.canParse(headers.location, at)) break;
      at = new URL(headers.location, at).href;
    }
    throw new UpstreamError('it redirects without end');
  }

  #once(url: string, index: string, accept: string): Promise<IncomingMessage> {
    const { username, password, origin } = new URL(index);
    const own = new URL(url);
    const auth =
      username !== '' && own.origin === origin
        ? `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
        : undefined;
    own.username = '';
    own.password = '';
    const options = {
      headers: { accept, 'accept-encoding': 'identity', 'user-agent': 'model-project-service' },
      ...(auth !== undefined && { auth }),
      timeout: idleMilliseconds,
    };
    return new Promise((resolve, reject) => {
      const isSecure = own.protocol === 'https:';
      const request = isSecure
        ? secureGet(own, { ...options, agent: this.#secure }, resolve)
        : plainGet(own, { ...options, agent: this.#plain }, resolve);
      request.on('timeout', () => request.destroy(new Error('it did not respond')));
      request.on('error', (error) => reject(new UpstreamError(error.message, { cause: error })));
    });
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

/**
 * Whether a URL named by an index may be fetched: by https, or from the index's own origin. This excludes the host's
 * credentials service (169.254.169.254), which has no TLS.
 */
const isReachable = (url: string, index: string): boolean =>
  URL.canParse(url) && (url.startsWith('https:') || new URL(url).origin === new URL(index).origin);

/** The index is unreachable, or its answer was refused. */
class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
}
