import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { LargeBodies } from '../../../shared/http/definition/endpoint-input.ts';
import type { Result } from '../../../shared/http/pipeline/proxy-event.ts';

/** Send a handler's result as an HTTP response. */
export function send(_request: IncomingMessage, response: ServerResponse, result: Result): void {
  const body = result.isBase64Encoded === true ? Buffer.from(result.body, 'base64') : result.body;
  const headers = headersOf(result);
  if (result.statusCode !== 204 && result.statusCode !== 304) {
    headers['Content-Length'] = String(Buffer.byteLength(body));
  }
  response.writeHead(result.statusCode, headers).end(body);
}

function headersOf({ headers, multiValueHeaders }: Result): Record<string, HeaderValue> {
  const all: Record<string, HeaderValue> = {};
  for (const [name, value] of Object.entries(headers ?? {})) all[name] = String(value);
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) all[name] = values.map(String);
  return all;
}

type HeaderValue = string | string[];

/** How long a client may continue to send a refused body, so that it can read the response. */
const lingerMilliseconds = 2_000;

/**
 * Respond to a request without reading its whole body, then close the connection. Closing at once would reset the
 * connection, and the client, which still sends, would see a reset instead of the response.
 */
export function sendAndClose(request: IncomingMessage, response: ServerResponse, result: Result): void {
  const headers = headersOf(result);
  headers['Content-Length'] = String(Buffer.byteLength(result.body));
  headers['Connection'] = 'close';
  response.writeHead(result.statusCode, headers);
  // A write alone sends nothing if the response has no body, as for HEAD.
  response.flushHeaders();
  response.write(result.body);
  const timer = setTimeout(() => response.end(), lingerMilliseconds);
  const finish = () => {
    clearTimeout(timer);
    response.end();
  };
  request.once('end', finish).once('close', finish).resume();
}

/**
 * Receive a body that is too large for an event, as a client of a deployment sends it: request an upload, send the
 * bytes to storage, and confirm the upload. Hold no more than one buffer in memory.
 */
export async function sendLargeBody(
  message: IncomingMessage,
  length: number,
  begin: NonNullable<ReturnType<LargeBodies['begin']>>,
  call: OwnCall,
  storage?: PublicStorage,
): Promise<Result> {
  const begun = await call(begin.path, begin.body);
  if (begun.statusCode !== 200) return begun;
  const { url, path, body } = begin.proceed(bodyOf(begun));
  const status = await put(message, url, length, storage);
  if (status !== 200)
    throw new ServiceError('unavailable', `Storage refused the body (${status}). Try again.`);
  return call(path, body);
}

/** Addresses of the S3 server, if presigned URLs have one of their own. */
export interface PublicStorage {
  /** Address of the S3 server on this machine. */
  url: string;
  publicUrl: string;
}

/** A request that the gateway makes on behalf of the client. */
export type OwnCall = (path: string, body: object) => Promise<Result>;

const bodyOf = ({ body, isBase64Encoded }: Result): unknown =>
  JSON.parse(Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8').toString('utf8'));

/** Stream a body of known length to a presigned URL, and return the status of storage. */
async function put(
  body: IncomingMessage,
  url: string,
  length: number,
  storage?: PublicStorage,
): Promise<number> {
  const { host, pathname, search, origin } = new URL(url);
  // This machine may not reach itself by the public address, which the signature covers.
  const near = origin === storage?.publicUrl ? `${storage.url}${pathname}${search}` : url;
  const sending = httpRequest(near, { method: 'PUT', headers: { host, 'content-length': length } });
  const answered = once(sending, 'response');
  // The pipeline throws a failure.
  answered.catch(() => {});
  await pipeline(body, sending);
  const [answer]: IncomingMessage[] = await answered;
  answer?.resume();
  return answer?.statusCode ?? 0;
}
