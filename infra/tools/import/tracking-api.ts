import type * as z from 'zod';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { TryAgainError, usualRetries, withRetries } from '../../../shared/client/retry.ts';
import { UnreachableError } from '../../../shared/client/unreachable-error.ts';
import { CommandError } from '../../command/command-error.ts';

/** The REST API of an MLflow tracking server, below its base address. */
export class TrackingApi {
  readonly url: string;
  readonly #authorization: string | undefined;

  constructor(url: string, authorization: string | undefined) {
    this.url = url.replace(/\/+$/, '');
    this.#authorization = authorization;
  }

  /** Call `GET mlflow/…` and the like, and return JSON of this shape. @throws ProblemError | UnreachableError | CommandError */
  async json<S extends z.ZodType>(schema: S, call: string, given: Call = {}): Promise<z.output<S>> {
    const text = await (await this.send(call, given)).text();
    const parsed = schema.safeParse(parseJson(text));
    if (!parsed.success) throw new CommandError(`${this.url} answers ${call} with ${text.slice(0, 200)}`);
    return parsed.data;
  }

  /** The same, for its effect alone. */
  async run(call: string, given: Call = {}): Promise<void> {
    await (await this.send(call, given)).arrayBuffer();
  }

  /** The same, with the body of the response still to be read. A path that begins with a slash is below the base address. */
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
    return withRetries(() => attempt(url, init), { policy: usualRetries, isRepeatable });
  }
}

interface Call {
  query?: Query;
  body?: object;
  bytes?: Uint8Array<ArrayBuffer>;
  /** What would be there twice is not repeated after a lost connection. */
  isRepeatable?: boolean;
}

type Query = Readonly<Record<string, string | number | readonly string[]>>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) search.append(name, String(one));
  return search.size === 0 ? '' : `?${search}`;
}

/** Milliseconds without a byte after which a server is given up. */
const answerMilliseconds = 120_000;

async function attempt(url: string, init: RequestInit): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('no answer within two minutes')), answerMilliseconds);
  let response: Response;
  try {
    response = await fetch(url, { ...init, signal: late.signal });
  } catch (error) {
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

/** How a program signs in to an MLflow server: by MLflow's own variables. */
export function authorizationIn(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { MLFLOW_TRACKING_TOKEN, MLFLOW_TRACKING_USERNAME, MLFLOW_TRACKING_PASSWORD } = environment;
  if (MLFLOW_TRACKING_TOKEN) return `Bearer ${MLFLOW_TRACKING_TOKEN}`;
  if (!MLFLOW_TRACKING_USERNAME) return undefined;
  const pair = `${MLFLOW_TRACKING_USERNAME}:${MLFLOW_TRACKING_PASSWORD ?? ''}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
