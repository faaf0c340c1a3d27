import { HttpError } from '../answer/http-error.ts';
import type { RawRequest } from '../definition/endpoint-input.ts';
import type { Exchange } from '../definition/exchange.ts';
import { headerOf } from '../pipeline/proxy-event.ts';
import { checkBodySize, readFile } from './parse-body.ts';

const methods = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'] as const satisfies RawRequest['method'][];

/** The whole request of a proxy, which parses it itself. @throws ServiceError `too-large` */
export function readRawRequest({ event }: Exchange, maxBytes: number): RawRequest {
  checkBodySize(event, maxBytes);
  const { bytes } = readFile(event, { mediaTypes: ['*/*'] });
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
    for (const value of values ?? []) query.append(name, value);
  }
  const method = methods.find((one) => one === event.httpMethod);
  if (method === undefined) {
    const allowed = methods.join(', ');
    throw new HttpError(
      'method-not-allowed',
      `${event.httpMethod} is not served here; allowed are ${allowed}.`,
      {
        Allow: allowed,
      },
    );
  }
  const [path = ''] = Object.values(event.pathParameters ?? {});
  return { method, path, query, mediaType: headerOf(event, 'content-type') ?? '', bytes };
}
