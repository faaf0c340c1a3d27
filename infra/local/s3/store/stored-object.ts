import { createHash } from 'node:crypto';
import * as z from 'zod';
import { checksumAlgorithms } from '../protocol/checksum.ts';
import { integer, type Row, text } from './database.ts';

/** Where an object is. */
export interface ObjectAddress {
  bucket: string;
  key: string;
}

/** Metadata of an object. */
export interface StoredObject {
  /** The immutable bytes it refers to. */
  content: string;
  size: number;
  /** Without quotes. */
  etag: string;
  /** Milliseconds since the epoch. */
  modified: number;
  headers: StoredHeaders;
  checksum: StoredChecksum | undefined;
}

/** Response headers kept with an object: the content headers and `x-amz-meta-*`. */
const StoredHeaders = z.record(z.string(), z.string());
export type StoredHeaders = z.infer<typeof StoredHeaders>;

/** Whether a checksum is over the whole object's bytes or over the checksums of its parts. */
export const checksumTypes = ['FULL_OBJECT', 'COMPOSITE'] as const;

const StoredChecksum = z.object({
  algorithm: z.enum(checksumAlgorithms),
  value: z.string(),
  type: z.enum(checksumTypes),
});
export type StoredChecksum = z.infer<typeof StoredChecksum>;

/** Reads a row of the objects table. @throws where it does not hold an object */
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

/** Reads the headers column of objects and uploads. */
export function parseHeaders(row: Row): StoredHeaders {
  return StoredHeaders.parse(JSON.parse(text(row, 'headers')));
}

/** The ETag of an object of several parts: MD5 over the MD5s of the parts, and their number. */
export function joinEtags(etags: readonly string[]): string {
  const md5 = createHash('md5');
  for (const etag of etags) md5.update(etag, 'hex');
  return `${md5.digest('hex')}-${etags.length}`;
}
