import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { CommandError } from '../command/command-error.ts';
import type { Credentials } from './demo-options.ts';

const ProblemDocument = z.object({
  detail: z.string(),
  errors: z.array(z.object({ name: z.string(), message: z.string() })).default([]),
});

interface Request {
  query?: Readonly<Record<string, string>> | string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array<ArrayBuffer>;
}

const unavailableTries = 5;

/** A relative URL path of which each part is data. */
export const pathOf = (...parts: readonly string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part)}`).join('');

async function problemOf(response: Response, what: string): Promise<CommandError> {
  const text = await response.text();
  const parsed = ProblemDocument.safeParse(parseJson(text));
  const details = parsed.data?.errors.map(({ name, message }) => `${name} ${message}`) ?? [];
  const reason = details.length > 0 ? details.join('; ') : (parsed.data?.detail ?? text.slice(0, 300));
  return new CommandError(`${what} answered ${response.status}: ${reason}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new CommandError(`${new URL(url).origin} cannot be reached: ${cause}`);
  }
}

/** The service's public HTTP interface, for one who has signed in. */
export class ServiceClient {
  readonly #url: string;
  readonly token: string;
  /** Id of who has signed in: the first part of every token. */
  readonly userId: string;

  private constructor(url: string, token: string) {
    this.#url = url;
    this.token = token;
    this.userId = token.split('.')[0] ?? '';
  }

  /** @throws CommandError when the service does not know who that is */
  static async signIn(url: string, credentials: Credentials): Promise<ServiceClient> {
    if ('token' in credentials) return new ServiceClient(url, credentials.token);
    const body = new URLSearchParams({ grant_type: 'password', ...credentials });
    const response = await reach(`${url}/auth/token`, { method: 'POST', body });
    if (!response.ok) throw await problemOf(response, 'Signing in');
    const { access_token } = z.object({ access_token: z.string() }).parse(await response.json());
    return new ServiceClient(url, access_token);
  }

  /** Sends a request; a service that is out for a moment is asked again. @throws CommandError for every answer but success and redirect */
  async send(
    method: string,
    path: string,
    { query = '', headers = {}, body }: Request = {},
  ): Promise<Response> {
    const search = new URLSearchParams(query).toString();
    const url = `${this.#url}${path}${search === '' ? '' : `?${search}`}`;
    const init = {
      method,
      headers: { ...headers, Authorization: `Bearer ${this.token}` },
      redirect: 'manual' as const,
      ...(body !== undefined && { body }),
    };
    for (let attempt = 1; ; attempt += 1) {
      const response = await reach(url, init);
      if (response.status < 400) return response;
      const mayRetry = (response.status === 503 && method === 'GET') || response.status === 429;
      if (!mayRetry || attempt === unavailableTries) throw await problemOf(response, `${method} ${path}`);
      await response.body?.cancel();
      await delay(Number(response.headers.get('retry-after') ?? 1) * 1000);
    }
  }

  /** The answer's JSON, of this shape. */
  async json<S extends z.ZodType>(
    schema: S,
    method: string,
    path: string,
    request: Request = {},
  ): Promise<z.output<S>> {
    const response = await this.send(method, path, request);
    const parsed = schema.safeParse(await response.json());
    if (!parsed.success)
      throw new CommandError(`${method} ${path} returned what the demo does not understand.`);
    return parsed.data;
  }

  /** The answer as this media type. */
  async text(mediaType: string, path: string): Promise<string> {
    return (await this.send('GET', path, { headers: { Accept: mediaType } })).text();
  }
}
