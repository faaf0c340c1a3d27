import { wait } from '../../../shared/client/retry.ts';
import { tryParseJson } from '../../../shared/core/text/try-parse-json.ts';
import { CliError } from '../../cli-error.ts';

/** Requests to the API of a provider, with its token, which no message shows. */
export class ProviderApi {
  readonly #url: string;
  readonly #token: string;
  readonly #headers: Readonly<Record<string, string>>;
  #left = maxWaitSeconds;

  constructor({ url, token, headers }: { url: string; token: string; headers: Record<string, string> }) {
    this.#url = url.replace(/\/+$/, '');
    // A header has no space at its ends, so that a provider repeats the token without it.
    this.#token = token.trim();
    this.#headers = headers;
  }

  /**
   * Send a request. Wait where the provider asks for it, at most two minutes in all.
   *
   * @param again whether the request is sent again after a wait: not if it depends on what was read before it
   * @throws ProviderError for a status that is not expected
   */
  async send(method: string, path: string, { body, again = true }: Sent = {}): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#once(method, path, body);
      if (answer.status < 400) return answer;
      const seconds = waitSeconds(answer, attempt);
      const error = new ProviderError(
        this.#told(method, path, answer),
        isLimit(answer) ? 429 : answer.status,
      );
      if (seconds === undefined || seconds > this.#left || attempt === maxAttempts) throw error;
      this.#left -= seconds;
      await wait(seconds * 1000);
      if (!again) return { ...answer, status: 0 };
    }
  }

  async #once(method: string, path: string, body: object | undefined): Promise<Answer> {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers: { ...this.#headers, ...type, 'User-Agent': 'mps-ci' },
        ...content,
        redirect: 'error',
        signal: AbortSignal.timeout(30_000),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, json: tryParseJson(text) ?? null };
    } catch (error) {
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      throw new CliError(`${this.#url} does not answer: ${this.#hidden(String(cause))}`);
    }
  }

  #told(method: string, path: string, { status, json }: Answer): string {
    const said = messageOf(json);
    const why = said === '' ? '' : `: ${said}`;
    return this.#hidden(`${method} ${this.#url}${path.split('?')[0]} returned ${status}${why}`);
  }

  #hidden(text: string): string {
    return text.replaceAll(this.#token, '***').slice(0, 500);
  }
}

interface Sent {
  body?: object;
  again?: boolean;
}

export interface Answer {
  /** 0 if the provider asked for a wait, which is over, and the request is not to be repeated. */
  status: number;
  headers: Headers;
  json: unknown;
}

/** A refusal of a provider. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

const maxWaitSeconds = 120;
const maxAttempts = 6;

/** Seconds after which to try again; undefined if that is of no use. */
export function waitSeconds({ status, headers, json }: Answer, attempt: number): number | undefined {
  if (!isLimit({ status, json }) && status !== 403) return status >= 500 ? attempt : undefined;
  const after = headers.get('retry-after');
  if (after !== null && /^\d+$/.test(after)) return Number(after);
  if (headers.get('x-ratelimit-remaining') === '0') {
    const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
    return Number.isFinite(reset) ? Math.max(1, reset - Date.now() / 1000) : 60;
  }
  // GitHub asks for a minute where it names no time.
  return isLimit({ status, json }) ? 60 : undefined;
}

/** Whether a refusal is about the number of requests. GitHub's secondary limits are a 403 or a 429. */
const isLimit = ({ status, json }: Pick<Answer, 'status' | 'json'>): boolean =>
  status === 429 || (status === 403 && /rate limit/i.test(messageOf(json)));

function messageOf(json: unknown): string {
  const said = typeof json === 'object' && json !== null ? Reflect.get(json, 'message') : undefined;
  return typeof said === 'string' ? said : '';
}

/** Whether a write took effect. False if its comment is gone, or if it is to be reconsidered. */
export async function isDone(sent: Promise<Answer>): Promise<boolean> {
  try {
    return (await sent).status !== 0;
  } catch (error) {
    if (error instanceof ProviderError && (error.status === 404 || error.status === 410)) return false;
    throw error;
  }
}
