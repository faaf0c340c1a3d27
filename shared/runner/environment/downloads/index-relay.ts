import { randomBytes } from 'node:crypto';
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
import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '../../../core/error-text.ts';
import type { DownloadCache, DownloadSource } from './download-cache.ts';
import { type IndexedFile, placeFiles } from './index-page.ts';

interface PlacedFile extends IndexedFile {
  index: string;
}

/** A file that an installer received. */
export interface RelayedFile {
  filename: string;
  /** Undefined if the index states none. */
  sha256: string | undefined;
}

/** Number of files from the cache and from the index. */
interface RelayCounts {
  cached: number;
  fetched: number;
  cachedBytes: number;
  /** Bytes of both, also of files that are under way. */
  receivedBytes: number;
}

/** The operator's connection settings for package indexes. */
export interface UpstreamSettings {
  /** Certificates in PEM; Node's own by default. */
  ca?: string | undefined;
  /** HTTP_PROXY, HTTPS_PROXY, NO_PROXY. */
  proxies: Readonly<Record<string, string>>;
}

/** The files that an installer received, and every SHA-256 in the pages that it read. */
export interface RelayRecord {
  files: readonly RelayedFile[];
  named: ReadonlySet<string>;
}

/** Largest index page in bytes. The largest on PyPI has 30 MB. */
const maxPageBytes = 128 * 1024 * 1024;

/**
 * A proxy of package indexes for one installer. It forwards pages and serves files from the cache of downloads. It
 * listens on the loopback address under a secret path, and fetches only pages of its indexes and the files named
 * in them.
 */
export class IndexRelay {
  readonly #indexes: readonly string[];
  readonly #cache: DownloadCache;
  readonly #upstream: Upstream;
  readonly #token = randomBytes(16).toString('hex');
  readonly #files: PlacedFile[] = [];
  readonly #ids = new Map<string, number>();
  readonly #handed: RelayedFile[] = [];
  /** Pages that were asked for before the installer asks. */
  readonly #pages = new Map<string, Promise<IndexPage>>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly counts: RelayCounts = { cached: 0, fetched: 0, cachedBytes: 0, receivedBytes: 0 };
  /** The first error of a request. */
  failure: string | undefined;

  constructor(indexes: readonly string[], cache: DownloadCache, settings: UpstreamSettings) {
    this.#indexes = indexes.map((url) => (url.endsWith('/') ? url : `${url}/`));
    this.#cache = cache;
    this.#upstream = new Upstream(settings);
  }

  /** Record of its requests so far. */
  get record(): RelayRecord {
    const named = this.#files.flatMap(({ sha256 }) => sha256 ?? []);
    return { files: [...this.#handed], named: new Set(named) };
  }

  /** Start to listen and return the URL of each index. */
  async start(): Promise<string[]> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = this.#server.address() as AddressInfo;
    return this.#indexes.map((_, number) => `http://127.0.0.1:${port}/${this.#token}/index/${number}/`);
  }

  /** The file behind a URL of this relay, if an index has named it. */
  fileOf(url: string): RelayedFile | undefined {
    const file = this.#placed(url);
    return file && { filename: fileName(file), sha256: file.sha256 };
  }

  /**
   * Return the files that the indexes have of a package. The installer gets the same pages without another request.
   * @throws Error if an index does not answer
   */
  async filesOf(name: string): Promise<IndexedFile[]> {
    const found = await Promise.all(
      this.#indexes.map((index) => {
        const page = this.#fetchPage(index, `${name}/`, anyPage);
        this.#pages.set(`${index} ${name}`, page);
        // The installer may never ask.
        page.catch(() => undefined);
        return page;
      }),
    );
    const files: IndexedFile[] = [];
    for (const page of found) {
      if (page.status === 404) continue;
      if (page.status !== 200) throw new UpstreamError(`it answers ${page.status} for ${name}`);
      placeFiles(page, (file) => {
        files.push(file);
        return null;
      });
    }
    return files;
  }

  /**
   * Have the file behind a URL of this relay on this host, and compare it with its hash. An interrupted download is
   * repeated twice. Returns its path.
   * @throws Error if the index does not have the file with its hash
   */
  async obtain(url: string): Promise<string> {
    for (let turn = 1; ; turn += 1) {
      try {
        return await this.#obtain(url);
      } catch (error) {
        this.failure ??= errorText(error);
        if (turn === maxDownloads) throw error;
        await delay(turn * 1000);
      }
    }
  }

  async #obtain(url: string): Promise<string> {
    const file = this.#placed(url);
    if (file?.sha256 === undefined) throw new UpstreamError(`no index has named ${url}`);
    const { sha256 } = file;
    const source = await this.#cache.find(sha256, async () => {
      const fetched = await this.#fetch(file, '');
      if (fetched.status !== 200)
        throw new UpstreamError(`it answers ${fetched.status} for ${fileName(file)}`);
      return fetched;
    });
    for await (const _ of this.#counted(this.#cache.kept(sha256, source)));
    if (!this.#handed.some((one) => one.sha256 === sha256)) {
      this.#count(source);
      this.#handed.push({ filename: fileName(file), sha256 });
    }
    return this.#cache.pathOf(sha256);
  }

  #placed(url: string): PlacedFile | undefined {
    const [, token, kind, id] = URL.canParse(url) ? new URL(url).pathname.split('/') : [];
    return token === this.#token && kind === 'file' ? this.#files[Number(id)] : undefined;
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
        await this.#page(this.#indexes[Number(number)], rest.join('/'), request, response);
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
    const known = `${index} ${path.replace(/\/$/, '')}`;
    const ahead = accept.includes('json') ? await this.#pages.get(known)?.catch(() => undefined) : undefined;
    this.#pages.delete(known);
    const page = ahead ?? (await this.#fetchPage(index, path, accept));
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
    if (!isMetadata && status === 200) {
      this.#count(source);
      this.#handed.push({ filename: fileName(file), sha256 });
    }
    response.writeHead(status, {
      'content-type': 'application/octet-stream',
      ...(source.size !== undefined && { 'content-length': source.size }),
    });
    const bytes = isKept && status === 200 ? this.#cache.kept(sha256, source) : source.body;
    await pipeline(Readable.from(this.#counted(bytes), { objectMode: false }), response).finally(() =>
      source.body.destroy(),
    );
  }

  async *#counted(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      this.counts.receivedBytes += chunk.length;
      yield chunk;
    }
  }

  #count({ from, size = 0 }: DownloadSource): void {
    if (from === 'index') this.counts.fetched += 1;
    else {
      this.counts.cached += 1;
      this.counts.cachedBytes += size;
    }
  }
}

interface IndexPage {
  status: number;
  type: string;
  text: string;
  isJson: boolean;
  /** Its URL after redirects. */
  url: string;
}

/** What pip asks for. */
const anyPage =
  'application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01';

const fileName = ({ url }: IndexedFile): string => new URL(url).pathname.split('/').at(-1) ?? '';

interface UpstreamAnswer {
  message: IncomingMessage;
  /** The final URL after redirects. */
  url: string;
}

const maxRedirects = 5;

/** Attempts to download a file. pip and uv make more of their own. */
const maxDownloads = 3;

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
