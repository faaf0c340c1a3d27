import { createHash } from 'node:crypto';
import * as z from 'zod';
import { checksumAlgorithms } from '../protocol/checksum.ts';
import { integer, type Row, text } from './database.ts';

export interface ObjectAddress {
  bucket: string;
  key: string;
}

/** Metadata of an object. */
export interface StoredObject {
  /** Name of the immutable bytes of the object. */
  content: string;
  size: number;
  /** Without quotes. */
  etag: string;
  /** Milliseconds since the epoch. */
  modified: number;
  headers: StoredHeaders;
  checksum: StoredChecksum | undefined;
}

/** Response headers stored with an object: the content headers and `x-amz-meta-*`. */
const StoredHeaders = z.record(z.string(), z.string());
export type StoredHeaders = z.infer<typeof StoredHeaders>;

/** Whether a checksum covers the bytes of the whole object or the checksums of its parts. */
export const checksumTypes = ['FULL_OBJECT', 'COMPOSITE'] as const;

const StoredChecksum = z.object({
  algorithm: z.enum(checksumAlgorithms),
  value: z.string(),
  type: z.enum(checksumTypes),
});
export type StoredChecksum = z.infer<typeof StoredChecksum>;

/** Parse a row of the objects table. @throws if it contains no valid object */
export function parseObject(row: Row): StoredObject {
  return {
    content: text(row, 'content'),
    size: integer(row, 'size'),
    etag: text(row, 'etag'),
    modified: integer(row, 'modified'),
    headers: parseHeaders(row),
    checksum: row['checksum'] === null ? undefined : StoredChecksum.parse(JSON.parse(text(row, 'checksum'))),
  };
}

/** Parse the headers column of objects and uploads. */
export function parseHeaders(row: Row): StoredHeaders {
  return StoredHeaders.parse(JSON.parse(text(row, 'headers')));
}

/** Return the ETag of an object with several parts: MD5 over the MD5s of the parts, and their number. */
export function joinEtags(etags: readonly string[]): string {
  const md5 = createHash('md5');
  for (const etag of etags) md5.update(etag, 'hex');
  return `${md5.digest('hex')}-${etags.length}`;
}
