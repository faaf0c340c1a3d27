import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Result } from '../../../shared/http/pipeline/proxy-event.ts';

/** How long a client may go on sending what was refused, so that it gets to read why. */
const lingerMilliseconds = 2_000;

type HeaderValue = string | string[];

function headersOf({ headers, multiValueHeaders }: Result): Record<string, HeaderValue> {
  const all: Record<string, HeaderValue> = {};
  for (const [name, value] of Object.entries(headers ?? {})) all[name] = String(value);
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) all[name] = values.map(String);
  return all;
}

/** A handler's result as an HTTP answer. */
export function send(_request: IncomingMessage, response: ServerResponse, result: Result): void {
  const body = result.isBase64Encoded === true ? Buffer.from(result.body, 'base64') : result.body;
  const headers = headersOf(result);
  if (result.statusCode !== 204 && result.statusCode !== 304) {
    headers['Content-Length'] = String(Buffer.byteLength(body));
  }
  response.writeHead(result.statusCode, headers).end(body);
}

/**
 * Respond to a request whose body is not read to its end, and then close the connection. Closing it at once would
 * reset it, and the client, still sending, would see that instead of the response.
 */
export function sendAndClose(request: IncomingMessage, response: ServerResponse, result: Result): void {
  const headers = headersOf(result);
  headers['Content-Length'] = String(Buffer.byteLength(result.body));
  headers['Connection'] = 'close';
  response.writeHead(result.statusCode, headers);
  // A write alone sends nothing where the answer has no body, as that of HEAD.
  response.flushHeaders();
  response.write(result.body);
  const timer = setTimeout(() => response.end(), lingerMilliseconds);
  const finish = () => {
    clearTimeout(timer);
    response.end();
  };
  request.once('end', finish).once('close', finish).resume();
}
