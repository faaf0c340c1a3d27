import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { S3Error } from '../protocol/s3-error.ts';
import { blockBytes } from '../store/block-sums.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { requireReadConditions, unquote } from './conditions.ts';
import { checksumHeaders, overriddenHeaders, validatorHeaders } from './object-headers.ts';
import type { Exchange } from './s3-exchange.ts';

/** GetObject: the object or one range of it, with conditions and `response-*` overrides. */
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
    // Reads a block while the one before it is sent.
    const stream = Readable.from(bytes, { objectMode: false, highWaterMark: 2 * blockBytes });
    try {
      // Once the head is sent, the fault of a damaged block can only break the answer off.
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

/** The range that is asked for, and what sends the head of its answer. */
function prepareAnswer({ request, response, headers }: Exchange, stored: StoredObject): PreparedAnswer {
  requireReadConditions(headers, stored);
  const overrides = overriddenHeaders(request.query);
  const ifRange = headers.get('if-range');
  const applies = ifRange === undefined || unquote(ifRange) === stored.etag;
  const range = applies ? parseRange(headers.get('range'), stored.size) : undefined;
  // The checksum of the whole would only make a client reject a part of it.
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
 * Reads a Range header for an object of `size` bytes. Undefined means the whole object: as in RFC 9110 a
 * range that is not understood is ignored, and as in S3 so are several ranges at once.
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

/** HeadObject: what GetObject would answer, without the bytes. */
export function headObject(exchange: Exchange): void {
  prepareAnswer(exchange, exchange.store.objects.require(exchange.request)).answer();
  exchange.response.end();
}
