import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { S3Error } from '../protocol/s3-error.ts';
import { blockBytes } from '../store/block-sums.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { requireReadConditions, unquote } from './conditions.ts';
import { checksumHeaders, overriddenHeaders, validatorHeaders } from './object-headers.ts';
import type { Exchange } from './s3-exchange.ts';

/** GetObject: return the object or one range of it, with conditions and `response-*` overrides. */
export async function getObject(exchange: Exchange): Promise<void> {
  const { request, response, store } = exchange;
  const { stored, read, release } = store.objects.open(request);
  try {
    const { range, answer } = prepareAnswer(exchange, stored);
    if (stored.size === 0) {
      answer();
      response.end();
      return;
    }
    const bytes = read(range?.first ?? 0, range?.last ?? stored.size - 1);
    // Read a block while the previous one is sent.
    const stream = Readable.from(bytes, { objectMode: false, highWaterMark: 2 * blockBytes });
    try {
      // After the head is sent, a damaged block can only abort the response.
      await once(stream, 'readable');
      answer();
      await pipeline(stream, response);
    } finally {
      stream.destroy();
    }
  } finally {
    release();
  }
}

/** Return the requested range, and a function that sends the head of the response. */
function prepareAnswer({ request, response, headers }: Exchange, stored: StoredObject): PreparedAnswer {
  requireReadConditions(headers, stored);
  const overrides = overriddenHeaders(request.query);
  const ifRange = headers.get('if-range');
  const applies = ifRange === undefined || unquote(ifRange) === stored.etag;
  const range = applies ? parseRange(headers.get('range'), stored.size) : undefined;
  // A client would check a range against the whole object's checksum, and reject it.
  const wanted = headers.get('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED' && range === undefined;
  const fields = {
    'accept-ranges': 'bytes',
    'content-length': range === undefined ? stored.size : range.last - range.first + 1,
    ...(range === undefined ? {} : { 'content-range': `bytes ${range.first}-${range.last}/${stored.size}` }),
    ...validatorHeaders(stored),
    ...(wanted ? checksumHeaders(stored) : {}),
    ...stored.headers,
    ...overrides,
  };
  return { range, answer: () => void response.writeHead(range === undefined ? 200 : 206, fields) };
}

interface PreparedAnswer {
  range: ByteRange | undefined;
  answer: () => void;
}

/** Bytes `first` to `last`, both included. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * Parse a Range header for an object of `size` bytes. Return undefined for the whole object: RFC 9110 ignores an
 * invalid range, and S3 ignores several ranges at once.
 * @throws S3Error InvalidRange
 */
export function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=(\d{0,16})-(\d{0,16})$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return undefined;
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  const first = from === '' ? Math.max(size - Number(to), 0) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size) {
    throw new S3Error(
      'InvalidRange',
      'The requested range is not satisfiable',
      { RangeRequested: header ?? '', ActualObjectSize: String(size) },
      { 'content-range': `bytes */${size}` },
    );
  }
  return { first, last };
}

/** HeadObject: respond like GetObject, without the bytes. */
export function headObject(exchange: Exchange): void {
  prepareAnswer(exchange, exchange.store.objects.require(exchange.request)).answer();
  exchange.response.end();
}
