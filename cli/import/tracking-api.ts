import type * as z from 'zod';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { TryAgainError, usualRetries, withRetries } from '../../shared/client/retry.ts';
import { UnreachableError } from '../../shared/client/unreachable-error.ts';
import { tryParseJson } from '../../shared/core/text/try-parse-json.ts';
import { CliError } from '../cli-error.ts';

/** Client of an MLflow tracking server's REST API. */
export class TrackingApi {
  readonly url: string;
  readonly #authorization: string | undefined;
  readonly #signal: AbortSignal | undefined;

  /** @param signal ends the current call and all later ones */
  constructor(url: string, authorization: string | undefined, signal?: AbortSignal) {
    this.url = url.replace(/\/+$/, '');
    this.#authorization = authorization;
    this.#signal = signal;
  }

  /**
   * Call an operation, such as `GET mlflow/…`, and return JSON of this shape.
   * @throws ProblemError | UnreachableError | CliError
   */
  async json<S extends z.ZodType>(schema: S, call: string, given: Call = {}): Promise<z.output<S>> {
    const text = await (await this.send(call, given)).text();
    const parsed = schema.safeParse(tryParseJson(text));
    if (!parsed.success) throw new CliError(`${this.url} answers ${call} with ${text.slice(0, 200)}`);
    return parsed.data;
  }

  /** Call an operation, and discard its response. */
  async run(call: string, given: Call = {}): Promise<void> {
    await (await this.send(call, given)).arrayBuffer();
  }

  /**
   * Call an operation, and return the response with its unread body. A path with a leading slash is relative to
   * the base address.
   */
  send(call: string, { query = {}, body, bytes, isRepeatable = true }: Call = {}): Promise<Response> {
    const [method = '', path = ''] = call.split(' ', 2);
    const below = path.startsWith('/') ? path : `/api/2.0/${path}`;
    const url = `${this.url}${below}${queryText(query)}`;
    const content = body === undefined ? bytes : JSON.stringify(body);
    const headers = {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(this.#authorization !== undefined && { Authorization: this.#authorization }),
    };
    const init = { method, headers, ...(content !== undefined && { body: content }) };
    const signal = this.#signal;
    return withRetries(() => attempt(url, init, signal), { policy: usualRetries, isRepeatable, signal });
  }
}

interface Call {
  query?: Query;
  body?: object;
  bytes?: Uint8Array<ArrayBuffer>;
  /**
   * False for a call that must not be repeated after a lost connection, because it would create something twice.
   */
  isRepeatable?: boolean;
}

type Query = Readonly<Record<string, string | number | readonly string[]>>;

function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) search.append(name, String(one));
  return search.size === 0 ? '' : `?${search}`;
}

/** Give up a server after this many milliseconds without a byte. */
const answerMilliseconds = 120_000;

async function attempt(url: string, init: RequestInit, ended?: AbortSignal): Promise<Response> {
  ended?.throwIfAborted();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('no answer within two minutes')), answerMilliseconds);
  let response: Response;
  try {
    response = await fetch(url, {
      ...init,
      signal: ended ? AbortSignal.any([late.signal, ended]) : late.signal,
    });
  } catch (error) {
    ended?.throwIfAborted();
    throw new UnreachableError(new URL(url).origin, error);
  } finally {
    clearTimeout(timer);
  }
  if (response.ok) return response;
  const problem = await ProblemError.of(response);
  if ([429, 502, 503, 504].includes(problem.status))
    throw new TryAgainError(problem, response.headers.get('retry-after'));
  throw problem;
}

/** Return the authorization for an MLflow server from MLflow's own variables. */
export function authorizationIn(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { MLFLOW_TRACKING_TOKEN, MLFLOW_TRACKING_USERNAME, MLFLOW_TRACKING_PASSWORD } = environment;
  if (MLFLOW_TRACKING_TOKEN) return `Bearer ${MLFLOW_TRACKING_TOKEN}`;
  if (!MLFLOW_TRACKING_USERNAME) return undefined;
  const pair = `${MLFLOW_TRACKING_USERNAME}:${MLFLOW_TRACKING_PASSWORD ?? ''}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
