import type { IncomingMessage, ServerResponse } from 'node:http';
import { S3Error } from './s3-error.ts';

/** A received request, not yet authenticated. */
export interface S3Request {
  id: string;
  method: string;
  /** Decoded path with its leading slash. */
  path: string;
  bucket: string;
  key: string;
  /** Decoded query in the order sent. A parameter without `=` has the value ''. */
  query: ReadonlyMap<string, string>;
  /**
   * Headers by lower-case name. Values are as received, one byte per character; repeated headers are joined with a
   * comma. The signature is computed over this map, so the server uses exactly the signed values.
   */
  headers: ReadonlyMap<string, string>;
  message: IncomingMessage;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean;
  response: ServerResponse;
}

const maxKeyBytes = 1024;

/** Parse the request line and headers. @throws S3Error InvalidURI, InvalidArgument, KeyTooLongError */
export function parseRequest(
  id: string,
  message: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
): S3Request {
  const target = message.url ?? '';
  const mark = target.indexOf('?');
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  if (!rawPath.startsWith('/')) throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  const path = decodeUri(rawPath);
  const slash = path.indexOf('/', 1);
  const key = slash < 0 ? '' : path.slice(slash + 1);
  if (Buffer.byteLength(key) > maxKeyBytes) {
    throw new S3Error('KeyTooLongError', 'Your key is too long.', { MaxSizeAllowed: String(maxKeyBytes) });
  }
  return {
    id,
    method: message.method ?? '',
    path,
    bucket: slash < 0 ? path.slice(1) : path.slice(1, slash),
    key,
    query: parseQuery(mark < 0 ? '' : target.slice(mark + 1)),
    headers: collectHeaders(message.rawHeaders),
    message,
    expectsContinue,
    response,
  };
}

/** Decode percent-encoding. @throws S3Error InvalidURI if it is malformed or not UTF-8 */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
}

function parseQuery(text: string): Map<string, string> {
  const query = new Map<string, string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeUri(equals < 0 ? pair : pair.slice(0, equals));
    if (query.has(name)) throw new S3Error('InvalidArgument', 'Query parameters must not repeat.');
    query.set(name, equals < 0 ? '' : decodeUri(pair.slice(equals + 1)));
  }
  return query;
}

function collectHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = (raw[index + 1] ?? '').trim();
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  return headers;
}
