import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../../shared/core/log.ts';
import { badRequest, ServiceError } from '../../../shared/core/service-error.ts';
import { HttpError } from '../../../shared/http/answer/http-error.ts';
import { renderError } from '../../../shared/http/answer/render-error.ts';
import { notUtf8, parametersNotUtf8 } from '../../../shared/http/body/percent-encoding.ts';

/** Respond on the connection to malformed HTTP, which has no response object. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, log: Logger): void {
  const gone = error.code === 'ECONNRESET' || error.code === 'EPIPE';
  if (gone || !socket.writable) {
    socket.destroy();
    return;
  }
  const { statusCode, headers, body } = renderError(clientError(error.code), randomUUID(), log);
  const lines = [
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function clientError(code: string | undefined): ServiceError | HttpError {
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new HttpError('request-timeout', 'The request took too long to arrive.');
  }
  return new ServiceError('bad-request', 'This is not a valid HTTP/1.1 request.');
}

/** Return a 431 error for a request line with headers that are too large. */
function headTooLarge(): HttpError {
  return new HttpError(
    'headers-too-large',
    `Request line and headers together may have ${headMaxBytes} bytes.`,
  );
}

/** Maximum bytes of a request line and its headers together, as in API Gateway. */
export const headMaxBytes = 10_240;

/** Return the header lines in pairs. @throws ServiceError if they are too large or name no host of this server */
export function readHeaders(request: IncomingMessage, admits: (host: string) => boolean): [string, string][] {
  const { method = '', url = '', rawHeaders } = request;
  const pairs: [string, string][] = [];
  const hosts: string[] = [];
  // Count "GET /path HTTP/1.1" and the final blank line. Node passes header bytes as latin1, one unit each.
  let bytes = method.length + url.length + 12 + 2;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    bytes += name.length + value.length + 4;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts.push(value);
    pairs.push([name, value]);
  }
  if (bytes > headMaxBytes) throw headTooLarge();
  const [host] = hosts;
  if (host === undefined || hosts.length > 1) {
    throw new ServiceError('bad-request', 'A request must have one Host header.');
  }
  if (!admits(host)) {
    throw new ServiceError(
      'forbidden',
      'The Host header does not name this server; call it by its own address.',
    );
  }
  return pairs;
}

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Return a check whether a `Host` header names this server. A page of another site can resolve its own name to the
 * loopback address (DNS rebinding), but cannot change the name that the browser sends. Any port passes, because a
 * forwarded port may differ and does not help a page.
 */
export function hostRule(allowedHosts: readonly string[]): (host: string) => boolean {
  const allowed = new Set([...loopback, ...allowedHosts].map((host) => host.toLowerCase()));
  return (host) =>
    allowed.has(host.toLowerCase()) || allowed.has(host.toLowerCase().replace(/:\d{1,5}$/, ''));
}

/**
 * Return the query unchanged. Refuse parameters that are not UTF-8, because they would reach a function changed.
 * @throws ServiceError 400 with the names of these parameters
 */
export function requireUtf8Query(query: string): string {
  const names = parametersNotUtf8(query);
  if (names.length > 0) throw badRequest(names.map((name) => ({ in: 'query', name, message: notUtf8 })));
  return query;
}
