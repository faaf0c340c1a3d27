import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { type Checksum, checksumAlgorithms } from '../protocol/checksum.ts';
import { S3Error } from '../protocol/s3-error.ts';
import type { BlobFolder, StagedBlob } from './blob-folder.ts';
import { type Database, integer, type Row, text, utf8 } from './database.ts';
import type { Garbage } from './garbage.ts';
import type { Integrity } from './integrity.ts';
import type { ObjectStore, WriteCondition } from './object-store.ts';
import {
  checksumTypes,
  type ObjectAddress,
  parseHeaders,
  type StoredHeaders,
  type StoredObject,
} from './stored-object.ts';

/** Multipart uploads. A completion joins the files of the parts by reference, without copying. */
export class UploadStore {
  readonly #database: Database;
  readonly #blobs: BlobFolder;
  readonly #garbage: Garbage;
  readonly #integrity: Integrity;
  readonly #objects: ObjectStore;

  constructor({ database, blobs, garbage, integrity, objects }: UploadStoreParts) {
    this.#database = database;
    this.#blobs = blobs;
    this.#garbage = garbage;
    this.#integrity = integrity;
    this.#objects = objects;
  }

  /** Begin an upload. @throws S3Error NoSuchBucket */
  create({ bucket, key }: ObjectAddress, start: Omit<Upload, 'id' | keyof ObjectAddress>): Upload {
    // The id starts with the time, so uploads of one key sort by their start.
    const id = `${start.initiated.toString(16).padStart(12, '0')}${randomBytes(16).toString('hex')}`;
    const checksum = start.checksum === undefined ? null : JSON.stringify(start.checksum);
    this.#database.write(() => {
      this.#objects.requireBucket(bucket);
      this.#database
        .sql('INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?)')
        .run(id, bucket, Buffer.from(key), start.initiated, JSON.stringify(start.headers), checksum);
    });
    return { ...start, id, bucket, key };
  }

  /** Return the upload with that id if it has this key. @throws S3Error NoSuchBucket, NoSuchUpload */
  require(id: string, { bucket, key }: ObjectAddress): Upload {
    this.#objects.requireBucket(bucket);
    const row = this.#database.sql('SELECT * FROM uploads WHERE id = ?').get(id);
    const upload = row === undefined ? undefined : parseUpload(row);
    if (upload === undefined || upload.bucket !== bucket || upload.key !== key) {
      throw new S3Error(
        'NoSuchUpload',
        'The specified multipart upload does not exist. It may have been aborted or completed.',
        { UploadId: id },
      );
    }
    return upload;
  }

  /** Make a sealed file a part. Replace an earlier part with that number. @throws S3Error NoSuchUpload */
  putPart(upload: Upload, part: Part, blob: StagedBlob): void {
    this.#database.write(() => {
      this.require(upload.id, upload);
      const where = 'FROM parts WHERE upload = ? AND number = ?';
      const before = this.#database.sql(`SELECT file ${where}`).get(upload.id, part.number);
      this.#garbage.forget();
      if (before !== undefined) this.#garbage.doom(text(before, 'file'));
      const checksum = part.checksum === undefined ? null : JSON.stringify(part.checksum);
      this.#database
        .sql('INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)')
        .run(upload.id, part.number, blob.id, part.size, part.etag, part.modified, checksum);
      this.#integrity.keep(blob);
    });
    this.#blobs.adopt(blob.id);
    this.#garbage.collect();
  }

  /** Return at most `limit` parts with a number above `after`, in order. */
  parts(id: string, after: number, limit: number): Part[] {
    const query = 'SELECT * FROM parts WHERE upload = ? AND number > ? ORDER BY number LIMIT ?';
    return this.#database.sql(query).all(id, after, limit).map(parsePart);
  }

  /** Return uploads of a bucket by key and id, after that key and, within it, that id. */
  list(bucket: string, prefix: string, after: { key: string; id: string }, limit: number): Upload[] {
    const query = `SELECT * FROM uploads WHERE bucket = ? AND key >= ? AND substr(key, 1, ?) = ?
      AND (key > ? OR (key = ? AND id > ?)) ORDER BY key, id LIMIT ?`;
    const [start, seen] = [Buffer.from(prefix), Buffer.from(after.key)];
    return this.#database
      .sql(query)
      .all(bucket, start, start.length, start, seen, seen, after.id, limit)
      .map(parseUpload);
  }

  /**
   * Make the named parts the object, and drop the others, in one transaction. The object's content gets the
   * upload's id, which identifies a repeated completion.
   * @throws S3Error
   */
  complete(
    upload: Upload,
    numbers: readonly number[],
    object: Omit<StoredObject, 'content'>,
    condition: WriteCondition,
  ): void {
    const content = upload.id;
    this.#database.write(() => {
      this.require(upload.id, upload);
      const take = this.#database.sql(
        'INSERT INTO segments SELECT ?, number, file, size FROM parts WHERE upload = ? AND number = ?',
      );
      for (const number of numbers) take.run(content, upload.id, number);
      this.#objects.replace(upload, { ...object, content }, condition);
      const taken = 'SELECT file FROM segments WHERE content = ?';
      this.#database
        .sql(`INSERT INTO garbage SELECT file, file FROM parts WHERE upload = ? AND file NOT IN (${taken})`)
        .run(upload.id, content);
      this.#drop(upload.id);
    });
    this.#garbage.collect();
  }

  /** End an upload without an object. @throws S3Error NoSuchUpload */
  abort(id: string, address: ObjectAddress): void {
    this.#database.write(() => {
      this.require(id, address);
      this.#garbage.forget();
      this.#database.sql('INSERT INTO garbage SELECT file, file FROM parts WHERE upload = ?').run(id);
      this.#drop(id);
    });
    this.#garbage.collect();
  }

  #drop(id: string): void {
    this.#database.sql('DELETE FROM parts WHERE upload = ?').run(id);
    this.#database.sql('DELETE FROM uploads WHERE id = ?').run(id);
  }
}

interface UploadStoreParts {
  database: Database;
  blobs: BlobFolder;
  garbage: Garbage;
  integrity: Integrity;
  objects: ObjectStore;
}

/** A multipart upload in progress. */
export interface Upload extends ObjectAddress {
  id: string;
  /** Milliseconds since the epoch. */
  initiated: number;
  headers: StoredHeaders;
  checksum: UploadChecksum | undefined;
}

const UploadChecksum = z.object({ algorithm: z.enum(checksumAlgorithms), type: z.enum(checksumTypes) });
export type UploadChecksum = z.infer<typeof UploadChecksum>;

function parseUpload(row: Row): Upload {
  return {
    id: text(row, 'id'),
    bucket: text(row, 'bucket'),
    key: utf8(row, 'key'),
    initiated: integer(row, 'initiated'),
    headers: parseHeaders(row),
    checksum: row['checksum'] === null ? undefined : UploadChecksum.parse(JSON.parse(text(row, 'checksum'))),
  };
}

/** A received part. */
export interface Part {
  number: number;
  size: number;
  etag: string;
  modified: number;
  checksum: Checksum | undefined;
}

const PartChecksum = z.object({ algorithm: z.enum(checksumAlgorithms), value: z.string() });

function parsePart(row: Row): Part {
  return {
    number: integer(row, 'number'),
    size: integer(row, 'size'),
    etag: text(row, 'etag'),
    modified: integer(row, 'modified'),
    checksum: row['checksum'] === null ? undefined : PartChecksum.parse(JSON.parse(text(row, 'checksum'))),
  };
}
