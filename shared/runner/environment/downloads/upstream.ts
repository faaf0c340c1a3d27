import { type IncomingMessage, Agent as PlainAgent, get as plainGet } from 'node:http';
import { Agent as SecureAgent, get as secureGet } from 'node:https';

const maxRedirects = 5;
const idleMilliseconds = 60_000;

/** How the supervisor reaches package indexes: as the operator's settings have it for installers. */
export interface UpstreamSettings {
  /** Certificates in PEM; those of Node unless given. */
  ca?: string | undefined;
  /** HTTP_PROXY, HTTPS_PROXY, NO_PROXY. */
  proxies: Readonly<Record<string, string>>;
}

/** The server could not be reached, or what it answers with is refused: no answer of an index. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
}

export interface UpstreamAnswer {
  message: IncomingMessage;
  /** After redirects. */
  url: string;
}

/**
 * Whether something that an index names may be fetched: by https, or from the very origin of the index. The
 * credentials that a host gives out (169.254.169.254) speak no TLS.
 */
export const isReachable = (url: string, index: string): boolean =>
  URL.canParse(url) && (url.startsWith('https:') || new URL(url).origin === new URL(index).origin);

/** Gets what package indexes have, with connections that are kept. */
export class Upstream {
  readonly #plain: PlainAgent;
  readonly #secure: SecureAgent;

  constructor({ ca, proxies }: UpstreamSettings) {
    const shared = { keepAlive: true, maxSockets: 16, proxyEnv: proxies };
    this.#plain = new PlainAgent(shared);
    this.#secure = new SecureAgent({ ...shared, ...(ca !== undefined && { ca }) });
  }

  /** @param index whose user and password are sent to its own origin alone @throws UpstreamError */
  async get(url: string, index: string, accept: string): Promise<UpstreamAnswer> {
    let at = url;
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      if (!isReachable(at, index)) throw new UpstreamError(`${new URL(at).origin} is not reached by https`);
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
      request.on('timeout', () => request.destroy(new Error('it gave no answer')));
      request.on('error', (error) => reject(new UpstreamError(error.message, { cause: error })));
    });
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}
