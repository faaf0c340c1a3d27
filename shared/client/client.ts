import { ProblemError } from './problem-error.ts';
import { type RetryPolicy, TryAgainError, usualRetries, withRetries } from './retry.ts';
import type {
  AnswerOf,
  Called,
  CallOptions,
  FileContent,
  RequestArguments,
  RequestOf,
  Route,
  RowOf,
} from './route.ts';
import { UnexpectedAnswerError } from './unexpected-answer-error.ts';
import { UnreachableError } from './unreachable-error.ts';

interface ClientOptions {
  /** Base URL of the service, including the API Gateway stage if it has one. */
  url: string;
  /** Bearer token, or where to get it for each request; undefined for calls without authentication. */
  token?: string | (() => Promise<string>) | undefined;
  /** Page key of a browser session. The browser sends the session's cookie, and `token` is undefined. */
  pageKey?: string | undefined;
  /** Name and version of the program, for the service's log. Browsers send their own `User-Agent`. */
  userAgent?: string;
  retries?: RetryPolicy;
  /** Called before each request. It returns further headers. */
  prepare?: (route: string, request: SentRequest) => Promise<Readonly<Record<string, string>>>;
}

/** A request to any endpoint. */
interface SentRequest extends CallOptions {
  path?: Readonly<Record<string, unknown>>;
  query?: Readonly<Record<string, unknown>>;
  fields?: Readonly<Record<string, unknown>>;
  body?: Readonly<Record<string, unknown>>;
  file?: FileContent;
}

/** One page of a list. `next` is the query of the next page; undefined on the last page. */
export interface ListPage<Row> {
  rows: Row[];
  next: string | undefined;
}

const nextLink = /<\?([^>]*)>; rel="next"/;

/** Timeout of one attempt in milliseconds. API Gateway gives up after 29 s. */
const answerMilliseconds = 60_000;

/** HTTP client of the service. The compiler checks every call against the definition of its endpoint. */
export class Client {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly #credentials: Readonly<Record<string, string>>;
  readonly #token: ClientOptions['token'];
  readonly #userAgent: string | undefined;
  readonly #retries: RetryPolicy;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    const { url, token, pageKey, userAgent, retries = usualRetries } = options;
    this.#options = options;
    this.url = url.replace(/\/+$/, '');
    this.#credentials = {
      ...(pageKey !== undefined && { Authorization: `Session ${pageKey}`, 'X-Requested-With': 'mps' }),
    };
    this.#token = token;
    this.#userAgent = userAgent;
    this.#retries = retries;
  }

  /** Return the same client, which calls `prepare` before each request. */
  preparing(prepare: ClientOptions['prepare'] & {}): Client {
    return new Client({ ...this.#options, prepare });
  }

  /**
   * Call an endpoint and return its JSON.
   *
   * @throws ProblemError if the service answers with an error
   * @throws UnreachableError if no answer arrives
   * @throws UnexpectedAnswerError if the answer is not from the service
   */
  async call<E extends Called>(route: Route<E>, ...[request]: RequestArguments<E>): Promise<AnswerOf<E>> {
    const { json } = await this.#json(route, request ?? {});
    return json as AnswerOf<E>;
  }

  /** Return the answer as text of another media type, such as `image/svg+xml`. @throws as {@link call} does */
  async text<E extends Called>(
    route: Route<E>,
    mediaType: string,
    ...[request]: RequestArguments<E>
  ): Promise<string> {
    const sentRequest: SentRequest = request ?? {};
    const headers = { ...sentRequest.headers, Accept: mediaType };
    return this.#exchange(route, { ...sentRequest, headers }, (response) => response.text());
  }

  /** Return one page of a list. `next` comes from the page before it. @throws as {@link call} does */
  async page<E extends Called>(
    route: Route<E>,
    request: RequestOf<E>,
    next?: string,
  ): Promise<ListPage<RowOf<E>>> {
    const { json, link } = await this.#json(route, request, next);
    if (!Array.isArray(json)) throw new UnexpectedAnswerError(`${route} did not return a list.`);
    return { rows: json as RowOf<E>[], next: nextLink.exec(link)?.[1] };
  }

  /** Yield every row of a list, page after page. @throws as {@link call} does */
  async *rows<E extends Called>(
    route: Route<E>,
    ...[request]: RequestArguments<E>
  ): AsyncGenerator<RowOf<E>> {
    let next: string | undefined;
    do {
      const page: ListPage<RowOf<E>> = await this.page<E>(route, (request ?? {}) as RequestOf<E>, next);
      yield* page.rows;
      next = page.next;
    } while (next !== undefined);
  }

  /**
   * Call an endpoint that redirects to bytes. Return the response with its body unread.
   *
   * @throws as {@link call} does
   */
  async open<E extends Called>(route: Route<E>, ...[request]: RequestArguments<E>): Promise<Response> {
    return this.#exchange(route, { ...request }, (response) => response, { redirect: 'follow' });
  }

  #json(route: string, request: SentRequest, next?: string): Promise<{ json: unknown; link: string }> {
    return this.#exchange(
      route,
      { ...request, headers: { Accept: 'application/json', ...request.headers } },
      async (response) => {
        const text = await response.text();
        try {
          return { json: JSON.parse(text), link: response.headers.get('link') ?? '' };
        } catch {
          throw new UnexpectedAnswerError(
            `${this.url} does not respond like the service: ${route} returned no JSON.`,
          );
        }
      },
      next === undefined ? {} : { query: next },
    );
  }

  async #exchange<T>(
    route: string,
    request: SentRequest,
    read: (response: Response) => T | Promise<T>,
    { redirect = 'manual', query }: { redirect?: 'manual' | 'follow'; query?: string } = {},
  ): Promise<T> {
    const space = route.indexOf(' ');
    const method = route.slice(0, space);
    const template = route.slice(space + 1);
    const search = query ?? queryText(request.query);
    const url = `${this.url}${requestPath(template, request.path ?? {})}${search === '' ? '' : `?${search}`}`;
    const { type, content } = contentOf(request);
    // Outside /auth/, every POST that creates something accepts an idempotency key, so the client may repeat it.
    const isKeyed = method === 'POST' && !template.startsWith('/auth/');
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token;
    const prepared = await this.#options.prepare?.(route, request);
    const headers = {
      ...(type !== undefined && { 'Content-Type': type }),
      ...(isKeyed && { 'Idempotency-Key': crypto.randomUUID() }),
      ...this.#credentials,
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(this.#userAgent !== undefined && { 'User-Agent': this.#userAgent }),
      ...prepared,
      ...request.headers,
    };
    const attempt = () =>
      this.#attempt(
        url,
        { method, headers, redirect, ...(content !== undefined && { body: content }) },
        request,
        read,
      );
    const isRepeatable = method !== 'POST' || isKeyed;
    return withRetries(attempt, { policy: this.#retries, isRepeatable, signal: request.signal });
  }

  async #attempt<T>(
    url: string,
    init: RequestInit,
    { signal }: SentRequest,
    read: (response: Response) => T | Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error('no response within a minute')), answerMilliseconds);
    const signals = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    try {
      const response = await fetch(url, { ...init, signal: signals });
      if (response.ok) return await read(response);
      if (response.status >= 300 && response.status < 400)
        throw new UnexpectedAnswerError(
          `${this.url} redirects to ${response.headers.get('location') ?? 'another address'}.`,
        );
      const problem = await ProblemError.of(response);
      // Storage answers a redirected download, and its 404 has no explanation either.
      if (problem.status === 404 && init.redirect === 'manual' && !problem.isExplained)
        throw new UnexpectedAnswerError(`${this.url} is not a Model Project Service: HTTP status 404.`);
      if (problem.status === 429 || problem.status === 503)
        throw new TryAgainError(problem, response.headers.get('retry-after'));
      throw problem;
    } catch (error) {
      const isOurs =
        error instanceof ProblemError ||
        error instanceof TryAgainError ||
        error instanceof UnexpectedAnswerError ||
        signal?.aborted === true;
      throw isOurs ? error : new UnreachableError(this.url, late.signal.aborted ? late.signal.reason : error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function queryText(query: Readonly<Record<string, unknown>> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  return search.toString();
}

/**
 * Fill in a path's parameters. `{name}` is one segment, `{name+}` several segments with slashes between them.
 *
 * @throws RangeError for a parameter that a URL cannot hold
 */
function requestPath(path: string, parameters: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{(\w+)(\+?)\}/g, (_, name: string, several: string) => {
    const value = String(parameters[name]);
    return several === '+' ? value.split('/').map(encodedPart).join('/') : encodedPart(value);
  });
}

/** Encode one path segment. Refuse `.` and `..`: every URL parser resolves them, even when encoded. */
function encodedPart(part: string): string {
  if (/^\.{1,2}$/.test(part)) throw new RangeError(`"${part}" cannot be part of a path`);
  return encodeURIComponent(part);
}

function contentOf({ fields, body, file }: SentRequest): { type?: string; content?: FileContent } {
  if (file !== undefined) return { type: 'application/octet-stream', content: file };
  if (fields === undefined && body === undefined) return {};
  return { type: 'application/json', content: JSON.stringify({ ...fields, ...body }) };
}
