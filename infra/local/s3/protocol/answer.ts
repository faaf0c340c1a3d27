import type { ServerResponse } from 'node:http';
import type { S3Error } from './s3-error.ts';
import type { S3Request } from './s3-request.ts';
import { errorDocument } from './xml.ts';

/** Respond with an error document, or drop the connection if a response has already begun. */
export function sendError(request: Pick<S3Request, 'id' | 'message' | 'response'>, error: S3Error): void {
  const { message, response } = request;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const document = errorDocument({
    Code: error.code,
    Message: error.message,
    ...error.fields,
    RequestId: request.id,
  });
  const bodiless = message.method === 'HEAD' || error.status === 304;
  const unread = !message.complete;
  const body = Buffer.from(document);
  response.writeHead(error.status, {
    ...(bodiless ? {} : { 'content-type': 'application/xml', 'content-length': body.length }),
    ...(unread ? { connection: 'close' } : {}),
    ...error.headers,
  });
  if (bodiless || !unread || message.destroyed) {
    response.end(bodiless ? undefined : body);
    return;
  }
  // Closing with unread bytes resets the connection, and the client would lose the response too.
  response.write(body);
  drain(request);
}

/** Maximum bytes of a refused upload to read and discard, so that the client can read the error. */
const drainBytes = 16 * 1024 * 1024;

const drainMilliseconds = 5_000;

function drain({ message, response }: Pick<S3Request, 'message' | 'response'>): void {
  let left = drainBytes;
  const finish = () => {
    clearTimeout(timer);
    message.removeAllListeners('data');
    response.end();
  };
  const timer = setTimeout(finish, drainMilliseconds);
  message.once('end', finish);
  message.once('close', finish);
  message.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) finish();
  });
  message.resume();
}

/** Respond with an XML document. */
export function sendXml(
  response: ServerResponse,
  document: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(document);
  response.writeHead(200, { 'content-type': 'application/xml', 'content-length': body.length, ...headers });
  response.end(body);
}

/** Respond without a body. */
export function sendEmpty(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, status === 200 ? { 'content-length': 0, ...headers } : headers);
  response.end();
}
