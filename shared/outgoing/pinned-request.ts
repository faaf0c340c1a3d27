import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { isIP } from 'node:net';
import { type AdmittingVariable, bareHost, type Resolve, receiverAddress } from './receiver-address.ts';

/** A request to a server outside. */
interface OutgoingRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}

interface RequestOptions {
  /** Servers as `host:port` that may have any address. */
  admitted: readonly string[];
  /** Variable that names them. */
  variable?: AdmittingVariable;
  /** Default: the resolver of the system. */
  resolve?: Resolve | undefined;
  signal: AbortSignal;
  /** Bytes of the answer that are read. */
  maxBytes: number;
}

/** The beginning of its answer. */
interface ReceivedAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  /** Whether there is more than these bytes, or the connection broke. */
  isCut: boolean;
}

/**
 * Check the address of a server outside and send a request to it, so a name that resolves differently a moment later
 * reaches nothing else. Follow no redirect.
 * @throws ReceiverError if the address is refused
 */
export async function pinnedRequest(
  { url, method, headers, body }: OutgoingRequest,
  { admitted, variable, resolve, signal, maxBytes }: RequestOptions,
): Promise<ReceivedAnswer> {
  const { address, family } = await unlessAborted(receiverAddress(url, admitted, resolve, variable), signal);
  const hostname = bareHost(url);
  const isSecure = url.protocol === 'https:';
  const request = (isSecure ? requestByHttps : requestByHttp)({
    host: address,
    family,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method,
    setHost: false,
    headers: {
      ...headers,
      Host: url.host,
      'User-Agent': 'model-project-service',
      ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }),
      Connection: 'close',
    },
    // The certificate is that of the name, not of the address.
    ...(isSecure && isIP(hostname) === 0 && { servername: hostname }),
    agent: false,
    signal,
  });
  request.end(body);
  try {
    const [answer] = (await once(request, 'response', { signal })) as [IncomingMessage];
    const beginning = await beginningOf(answer, maxBytes);
    return { status: answer.statusCode ?? 0, headers: answer.headers, ...beginning };
  } finally {
    // An answer that never ends must not hold its connection.
    request.on('error', () => {});
    request.destroy();
  }
}

/** Read the first bytes of an answer. A receiver has answered with its status, however its body ends. */
async function beginningOf(answer: IncomingMessage, maxBytes: number) {
  const parts: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  try {
    for await (const part of answer) {
      parts.push(part);
      bytes += part.length;
      isCut = bytes > maxBytes;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // The status is known.
    isCut = true;
  }
  return { bytes: Buffer.concat(parts).subarray(0, maxBytes), isCut };
}

/** Wait for work, but no longer than until the signal is aborted. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
