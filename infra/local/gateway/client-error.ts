import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../../shared/core/log.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { HttpError } from '../../../shared/http/answer/http-error.ts';
import { renderError } from '../../../shared/http/answer/render-error.ts';

/** Most bytes of a request line and its headers together, as at API Gateway. */
export const headMaxBytes = 10_240;

/** 431 for a request line with headers that are too large. */
export function headTooLarge(): HttpError {
  return new HttpError(
    'headers-too-large',
    `Request line and headers together may have ${headMaxBytes} bytes.`,
  );
}

function clientError(code: string | undefined): ServiceError | HttpError {
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new HttpError('request-timeout', 'The request took too long to arrive.');
  }
  return new ServiceError('bad-request', 'This is not a valid HTTP/1.1 request.');
}

/** Respond to malformed HTTP, for which there is no response object, on the connection. */
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
