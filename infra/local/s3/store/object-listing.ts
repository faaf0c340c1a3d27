import { type Database, integer, text, utf8 } from './database.ts';

/**
 * List one page of a bucket in the order of the keys' UTF-8 bytes. Seek in the index, and skip each common prefix,
 * so the cost depends on the length of the page and not on the size of the bucket.
 */
export function listObjects(database: Database, query: ListingQuery): Listing {
  const prefix = Buffer.from(query.prefix);
  const delimiter = Buffer.from(query.delimiter);
  const listing: Listing = { objects: [], commonPrefixes: [], next: undefined };
  // If there is no prefix, use a bound above every key (UTF-8 has no byte FF).
  const end = prefix.length === 0 ? Buffer.from([0xff]) : after(prefix);
  const cursor = database.cursor(
    'SELECT key, size, etag, modified FROM objects WHERE bucket = ? AND key >= ? AND key < ? ORDER BY key',
  );
  let seek: Buffer | undefined = Buffer.compare(query.from, prefix) > 0 ? query.from : prefix;
  while (seek !== undefined) {
    const from: Buffer = seek;
    seek = undefined;
    for (const row of cursor.iterate(query.bucket, from, end)) {
      const key = utf8(row, 'key');
      const bytes = Buffer.from(key);
      if (listing.objects.length + listing.commonPrefixes.length >= query.limit) {
        listing.next = bytes;
        return listing;
      }
      const cut = delimiter.length === 0 ? -1 : bytes.indexOf(delimiter, prefix.length);
      if (cut >= 0) {
        const common = bytes.subarray(0, cut + delimiter.length);
        listing.commonPrefixes.push(common.toString());
        seek = after(common);
        break;
      }
      listing.objects.push({
        key,
        size: integer(row, 'size'),
        etag: text(row, 'etag'),
        modified: integer(row, 'modified'),
      });
    }
  }
  return listing;
}

export interface ListingQuery {
  bucket: string;
  prefix: string;
  /** '' for none. */
  delimiter: string;
  /** Skip keys before these bytes. */
  from: Buffer;
  limit: number;
}

export interface Listing {
  objects: ListedObject[];
  commonPrefixes: string[];
  /** Start of the next page, or undefined at the end. */
  next: Buffer | undefined;
}

interface ListedObject {
  key: string;
  size: number;
  etag: string;
  modified: number;
}

/**
 * Return the lowest bytes above everything with this prefix. UTF-8 has no byte FF, so an increment never
 * overflows.
 */
function after(prefix: Buffer): Buffer {
  const next = Buffer.from(prefix);
  const last = next.length - 1;
  next.writeUInt8((next[last] ?? 0) + 1, last);
  return next;
}
