import { S3Error } from '../protocol/s3-error.ts';

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
