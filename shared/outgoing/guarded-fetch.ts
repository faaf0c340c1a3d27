import { pinnedRequest } from './pinned-request.ts';
import { type AdmittingVariable, ReceiverError } from './receiver-address.ts';

/** Bytes of an answer. Documents with the keys of an issuer have a few thousand. */
const maxBytes = 256 * 1024;

interface GuardedFetchOptions {
  /** Servers as `host:port` that may have any address. */
  admitted: readonly string[];
  /** Variable that names them. */
  variable: AdmittingVariable;
  seconds?: number;
}

/** What libraries that take a `fetch` of their caller's give it. */
interface FetchInit {
  method?: string;
  headers?: ConstructorParameters<typeof Headers>[0];
  body?: unknown;
  signal?: AbortSignal | null | undefined;
}

/**
 * Return a `fetch` that reaches public servers by HTTPS alone, and those that the operator admits. It follows no
 * redirect, and connects to the address that was checked. Its promise is rejected with a {@link ReceiverError} for
 * anything else.
 */
export const guardedFetch =
  ({ admitted, variable, seconds = 5 }: GuardedFetchOptions) =>
  async (text: string, { method = 'GET', headers, body, signal }: FetchInit = {}): Promise<Response> => {
    const url = URL.parse(text);
    if (url === null) throw new ReceiverError('The URL is not a URL.');
    const late = AbortSignal.timeout(seconds * 1000);
    const ended = signal === null || signal === undefined ? late : AbortSignal.any([signal, late]);
    const sent = new Headers(headers);
    if (body instanceof URLSearchParams && !sent.has('content-type'))
      sent.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
    const request = {
      url,
      method: method === 'POST' ? method : 'GET',
      headers: Object.fromEntries(sent),
      body: body === undefined || body === null ? undefined : String(body),
    } as const;
    const answer = await pinnedRequest(request, { admitted, variable, signal: ended, maxBytes });
    const { status, bytes, isCut } = answer;
    if (isCut || status < 200 || status > 599)
      throw new ReceiverError(`The answer of ${url.host} is not whole, or has more than ${maxBytes} bytes.`);
    const hasBody = ![204, 205, 304].includes(status);
    const kept = Object.entries(answer.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    return new Response(hasBody ? new Uint8Array(bytes) : null, { status, headers: kept });
  };
