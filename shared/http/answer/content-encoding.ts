import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

/** Minimum bytes for compression. A smaller body fits into one packet either way. */
const minBytes = 1_024;

const textual = /^(?:text\/|application\/(?:[\w.+-]+\+)?json\b|image\/svg\+xml)/;

/** Whether a body may be sent compressed, by its media type and its bytes. */
export const isCompressible = (mediaType: string, bytes: number): boolean =>
  bytes >= minBytes && textual.test(mediaType);

/**
 * Return whether an `Accept-Encoding` header accepts gzip (RFC 9110, 12.5.3): by the quality of gzip, else by that
 * of `*`.
 */
export function acceptsGzip(header: string | undefined): boolean {
  const qualities = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    qualities.set(coding, q === undefined ? 1 : Number(q.slice(2)));
  }
  return (qualities.get('gzip') ?? qualities.get('x-gzip') ?? qualities.get('*') ?? 0) > 0;
}

const compress = promisify(gzip);

/** A larger body is compressed at the fastest level, which makes the result a tenth larger. */
const largeBytes = 500_000;

/** Compressed forms of bodies that many requests share. They are dropped together with the body. */
const kept = new WeakMap<Uint8Array, Promise<Uint8Array>>();

/**
 * Compress a body with gzip. A body of one request (`isPassing`; text always is) is compressed fast. A body that
 * many requests share is compressed well, and only once.
 */
export function compressed(
  body: string | Uint8Array,
  isPassing = typeof body === 'string',
): Promise<Uint8Array> {
  if (typeof body === 'string' || isPassing)
    return compress(body, { level: body.length > largeBytes ? 1 : 4 });
  const present = kept.get(body) ?? compress(body, { level: 9 });
  kept.set(body, present);
  return present;
}

const decompress = promisify(gunzip);

/** Unpack a gzip file and return its bytes. Keep the file itself as the compressed form of these bytes. */
export async function keepCompressed(gzipped: Uint8Array): Promise<Uint8Array> {
  const bytes = await decompress(gzipped);
  kept.set(bytes, Promise.resolve(gzipped));
  return bytes;
}

/**
 * Return the ETag of the compressed form. Two forms of one response have different bytes, so they have different
 * tags.
 */
export const compressedTag = (tag: string): string => tag.replace(/"$/, '-gzip"');

/** Add `Accept-Encoding` to a `Vary` header. */
export const varyByEncoding = (vary: string | undefined): string =>
  vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`;
