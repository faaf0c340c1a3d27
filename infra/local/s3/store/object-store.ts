import { S3Error } from '../protocol/s3-error.ts';
import type { BlobFolder, StagedBlob } from './blob-folder.ts';
import type { Database } from './database.ts';
import type { Garbage } from './garbage.ts';
import type { Integrity } from './integrity.ts';
import { listObjects } from './object-listing.ts';
import { type ObjectAddress, parseObject, type StoredObject } from './stored-object.ts';
import { type ListedVersion, nullVersion, type VersionMarker, VersionStore } from './version-store.ts';

/** Objects by bucket and key. */
export class ObjectStore {
  readonly #database: Database;
  readonly #blobs: BlobFolder;
  readonly #garbage: Garbage;
  readonly #integrity: Integrity;
  readonly #versions: VersionStore;

  constructor(database: Database, blobs: BlobFolder, garbage: Garbage, integrity: Integrity) {
    this.#database = database;
    this.#versions = new VersionStore(database);
    this.#blobs = blobs;
    this.#garbage = garbage;
    this.#integrity = integrity;
  }

  /** @throws S3Error NoSuchBucket */
  requireBucket(bucket: string): void {
    if (this.#database.sql('SELECT 1 FROM buckets WHERE name = ?').get(bucket) === undefined) {
      throw new S3Error('NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });
    }
  }

  find({ bucket, key }: ObjectAddress): StoredObject | undefined {
    const statement = this.#database.sql('SELECT * FROM objects WHERE bucket = ? AND key = ?');
    const row = statement.get(bucket, Buffer.from(key));
    return row === undefined ? undefined : parseObject(row);
  }

  /** @throws S3Error NoSuchBucket, NoSuchKey */
  require(address: ObjectAddress): StoredObject {
    this.requireBucket(address.bucket);
    const stored = this.find(address);
    if (stored === undefined) {
      throw new S3Error('NoSuchKey', 'The specified key does not exist.', { Key: address.key });
    }
    return stored;
  }

  /** Open an object for reading. @throws S3Error NoSuchBucket, NoSuchKey, InvalidObjectState */
  open(address: ObjectAddress): OpenObject {
    const stored = this.require(address);
    this.#integrity.requireIntact(address, stored);
    // Read the segments now, because a deletion drops them. The files themselves remain until the release.
    const segments = this.#integrity.segments(stored.content);
    const release = this.#garbage.pin(stored.content);
    const read = (first: number, last: number) =>
      this.#integrity.read(address, stored, segments, first, last);
    return { stored, release, read };
  }

  /** Make a sealed file an object, in one transaction. @throws S3Error, after which the file is still staged */
  put(
    address: ObjectAddress,
    blob: StagedBlob,
    object: Omit<StoredObject, 'content'>,
    condition: WriteCondition,
  ): void {
    this.#database.write(() => {
      this.#database.sql('INSERT INTO segments VALUES (?, 0, ?, ?)').run(blob.id, blob.id, object.size);
      this.#integrity.keep(blob);
      this.replace(address, { ...object, content: blob.id }, condition);
    });
    this.#blobs.adopt(blob.id);
    this.#garbage.collect();
  }

  /** Make the key refer to the bytes of `source` without copying them. @throws S3Error */
  copy(
    source: ObjectAddress,
    target: ObjectAddress,
    change: (stored: StoredObject) => StoredObject,
    condition: WriteCondition,
  ): StoredObject {
    const copied = this.#database.write(() => {
      const stored = this.require(source);
      this.#integrity.requireIntact(source, stored);
      const object = change(stored);
      this.replace(target, object, condition);
      return object;
    });
    this.#garbage.collect();
    return copied;
  }

  /** Delete objects. An outcome of `undefined` is success, also for absent keys. */
  delete(bucket: string, entries: readonly Deletion[]): (S3Error | undefined)[] {
    const outcome = this.#database.write(() => {
      this.requireBucket(bucket);
      this.#garbage.forget();
      return entries.map(({ key, condition, version }) =>
        version === undefined
          ? this.#deleteOne({ bucket, key }, condition)
          : this.#deleteVersion({ bucket, key }, version),
      );
    });
    this.#garbage.collect();
    return outcome;
  }

  /** Within a transaction: write an object's row, and release the key's former bytes. */
  replace(address: ObjectAddress, object: StoredObject, condition: WriteCondition): void {
    this.requireBucket(address.bucket);
    const before = this.find(address);
    requireCondition(condition, before?.etag);
    this.#garbage.forget();
    this.#write(address, object);
    if (this.#versions.isKept(address.bucket)) this.#versions.noteCurrent(address.bucket, address.key);
    if (before !== undefined) this.#garbage.release(before.content);
  }

  /** Keep all versions of objects in a bucket from now on. @throws S3Error NoSuchBucket */
  keepVersions(bucket: string): void {
    this.#database.write(() => {
      this.requireBucket(bucket);
      this.#versions.keep(bucket);
    });
  }

  /**
   * Return a page of the versions in a bucket. In a bucket without versioning, each object has the version "null".
   */
  versions(bucket: string, prefix: string, after: VersionMarker, limit: number): ListedVersion[] {
    if (this.#versions.isKept(bucket)) return this.#versions.list(bucket, prefix, after, limit);
    const from = after.key === '' ? Buffer.alloc(0) : Buffer.from(`${after.key}\0`);
    const { objects } = listObjects(this.#database, { bucket, prefix, delimiter: '', from, limit });
    return objects.map((object) => ({ ...object, id: nullVersion, isLatest: true, isMarker: false }));
  }

  /** @throws S3Error InvalidBucketName, BucketAlreadyOwnedByYou */
  createBucket(bucket: string): void {
    if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
      throw new S3Error('InvalidBucketName', 'The specified bucket is not valid.', { BucketName: bucket });
    }
    const { changes } = this.#database.sql('INSERT OR IGNORE INTO buckets VALUES (?)').run(bucket);
    if (Number(changes) > 0) return;
    throw new S3Error(
      'BucketAlreadyOwnedByYou',
      'Your previous request to create the named bucket succeeded.',
      {
        BucketName: bucket,
      },
    );
  }

  /** @throws S3Error NoSuchBucket, BucketNotEmpty */
  deleteBucket(bucket: string): void {
    this.#database.write(() => {
      this.requireBucket(bucket);
      for (const table of ['objects', 'versions', 'uploads']) {
        if (this.#database.sql(`SELECT 1 FROM ${table} WHERE bucket = ? LIMIT 1`).get(bucket) === undefined)
          continue;
        throw new S3Error('BucketNotEmpty', 'The bucket you tried to delete is not empty', {
          BucketName: bucket,
        });
      }
      this.#database.sql('DELETE FROM versioned_buckets WHERE name = ?').run(bucket);
      this.#database.sql('DELETE FROM buckets WHERE name = ?').run(bucket);
    });
  }

  #write({ bucket, key }: ObjectAddress, object: StoredObject): void {
    this.#database
      .sql('INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        bucket,
        Buffer.from(key),
        object.content,
        object.size,
        object.etag,
        object.modified,
        JSON.stringify(object.headers),
        object.checksum === undefined ? null : JSON.stringify(object.checksum),
      );
  }

  #erase({ bucket, key }: ObjectAddress): void {
    this.#database.sql('DELETE FROM objects WHERE bucket = ? AND key = ?').run(bucket, Buffer.from(key));
  }

  /** Delete one version for good. If it was the latest, the key refers to the previous version. */
  #deleteVersion(address: ObjectAddress, version: string): S3Error | undefined {
    const { bucket, key } = address;
    if (!this.#versions.isKept(bucket)) {
      return version === nullVersion ? this.#deleteOne(address, {}) : undefined;
    }
    const content = this.#versions.remove(bucket, key, version);
    const latest = this.#versions.latest(bucket, key);
    if (latest === undefined) this.#erase(address);
    else this.#write(address, latest);
    if (content !== undefined) this.#garbage.release(content);
    return undefined;
  }

  #deleteOne(address: ObjectAddress, condition: WriteCondition): S3Error | undefined {
    const before = this.find(address);
    try {
      requireCondition(condition, before?.etag);
    } catch (error) {
      if (error instanceof S3Error) return error;
      throw error;
    }
    if (this.#versions.isKept(address.bucket)) this.#versions.noteDeletion(address.bucket, address.key);
    if (before === undefined) return undefined;
    this.#erase(address);
    this.#garbage.release(before.content);
    return undefined;
  }
}

/** An open object. Its bytes remain readable until its release, also if its key is replaced or deleted. */
interface OpenObject {
  stored: StoredObject;
  /** Read verified bytes `first` to `last`, both included. @throws S3Error InvalidObjectState */
  read(first: number, last: number): AsyncGenerator<Buffer, void, undefined>;
  release(): void;
}

/** The condition of a write on the current object. */
export interface WriteCondition {
  /** An ETag without quotes, or `*` for any. */
  ifMatch?: string | undefined;
  /** The object must not exist. */
  ifNoneMatch?: boolean | undefined;
}

/** An object to delete: the key's current version, or the named version for good. */
export interface Deletion {
  key: string;
  condition: WriteCondition;
  version?: string | undefined;
}

/** @throws S3Error NoSuchKey, PreconditionFailed */
function requireCondition(condition: WriteCondition, etag: string | undefined): void {
  if (condition.ifNoneMatch === true && etag !== undefined) throw preconditionFailed('If-None-Match');
  if (condition.ifMatch === undefined) return;
  if (etag === undefined) throw new S3Error('NoSuchKey', 'The specified key does not exist.');
  if (condition.ifMatch !== '*' && condition.ifMatch !== etag) throw preconditionFailed('If-Match');
}

/** Make the error for a failed condition. */
export function preconditionFailed(condition: string): S3Error {
  return new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
    Condition: condition,
  });
}
