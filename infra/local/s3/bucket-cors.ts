import { S3Error } from './protocol/s3-error.ts';
import type { S3Request } from './protocol/s3-request.ts';

/** Set the CORS headers of a response if the origin is allowed. */
export function applyCors({ headers, response }: S3Request, origins: readonly string[]): void {
  const origin = headers.get('origin');
  if (origins.length > 0) response.setHeader('vary', 'Origin');
  if (origin === undefined || !isAllowedOrigin(origin, origins)) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', exposedHeaders);
}

/** Whether an origin is allowed. One `*` in an allowed origin matches any characters, as in S3. */
export function isAllowedOrigin(origin: string, allowed: readonly string[]): boolean {
  return allowed.some((one) => {
    const [before = '', after] = one.split('*');
    if (after === undefined) return one === origin;
    return (
      origin.length >= before.length + after.length && origin.startsWith(before) && origin.endsWith(after)
    );
  });
}

/** Response headers that scripts may read, in addition to those that browsers always expose. */
const exposedHeaders = [
  'etag',
  'content-range',
  'content-disposition',
  'x-amz-request-id',
  'x-amz-checksum-crc32',
  'x-amz-checksum-crc32c',
  'x-amz-checksum-crc64nvme',
  'x-amz-checksum-sha1',
  'x-amz-checksum-sha256',
  'x-amz-checksum-type',
].join(', ');

const allowedMethods = 'GET, HEAD, PUT, POST, DELETE';

/** Respond to a preflight request, which has no signature. @throws S3Error AccessForbidden */
export function answerPreflight({ headers, response }: S3Request, origins: readonly string[]): void {
  const origin = headers.get('origin');
  const method = headers.get('access-control-request-method') ?? '';
  const wanted = headers.get('access-control-request-headers') ?? '';
  const allowed =
    origin !== undefined &&
    isAllowedOrigin(origin, origins) &&
    allowedMethods.split(', ').includes(method) &&
    /^[\w!#$%&'*+.^`|~, -]*$/.test(wanted);
  if (!allowed) {
    throw new S3Error('AccessForbidden', 'CORSResponse: This CORS request is not allowed.', {
      Method: method,
      ResourceType: 'OBJECT',
    });
  }
  response.writeHead(200, {
    'access-control-allow-methods': allowedMethods,
    ...(wanted === '' ? {} : { 'access-control-allow-headers': wanted }),
    'access-control-max-age': '3600',
    'content-length': '0',
  });
  response.end();
}
