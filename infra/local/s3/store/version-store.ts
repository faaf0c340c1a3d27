import { randomBytes } from 'node:crypto';
import { type Database, integer, text, utf8 } from './database.ts';
import { parseObject, type StoredObject } from './stored-object.ts';

/** The versions of objects in buckets that keep them. Every method runs within a transaction of its caller. */
export class VersionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  isKept(bucket: string): boolean {
    return this.#database.sql('SELECT 1 FROM versioned_buckets WHERE name = ?').get(bucket) !== undefined;
  }

  /** Keeps versions from now on. What is in the bucket becomes the version "null" of its key. */
  keep(bucket: string): void {
    if (this.isKept(bucket)) return;
    this.#database.sql('INSERT INTO versioned_buckets VALUES (?)').run(bucket);
    this.#database
      .sql(`INSERT INTO versions (id, ${columns}) SELECT ?, ${columns} FROM objects WHERE bucket = ?`)
      .run(nullVersion, bucket);
  }

  /** Notes what the key refers to now as its latest version. */
  noteCurrent(bucket: string, key: string): void {
    this.#database
      .sql(
        `INSERT INTO versions (id, ${columns}) SELECT ?, ${columns} FROM objects WHERE bucket = ? AND key = ?`,
      )
      .run(randomBytes(16).toString('hex'), bucket, Buffer.from(key));
  }

  /** Notes the deletion of a key as its latest version. */
  noteDeletion(bucket: string, key: string): void {
    this.#database
      .sql(`INSERT INTO versions (id, ${columns}) VALUES (?, ?, ?, NULL, 0, '', ?, '{}', NULL)`)
      .run(randomBytes(16).toString('hex'), bucket, Buffer.from(key), Date.now());
  }

  /** Removes a version. Returns the bytes that it referred to, if there was one. */
  remove(bucket: string, key: string, id: string): string | undefined {
    const row = this.#database
      .sql('DELETE FROM versions WHERE bucket = ? AND key = ? AND id = ? RETURNING content')
      .get(bucket, Buffer.from(key), id);
    return row === undefined || row['content'] === null ? undefined : text(row, 'content');
  }

  /** The object that the latest version of a key is; undefined where it is a deletion, or there is none. */
  latest(bucket: string, key: string): StoredObject | undefined {
    const row = this.#database
      .sql('SELECT * FROM versions WHERE bucket = ? AND key = ? ORDER BY sequence DESC LIMIT 1')
      .get(bucket, Buffer.from(key));
    return row === undefined || row['content'] === null ? undefined : parseObject(row);
  }

  /** At most `limit` versions in the order of their keys, the latest of a key first. */
  list(bucket: string, prefix: string, after: VersionMarker, limit: number): ListedVersion[] {
    const [start, seen] = [Buffer.from(prefix), Buffer.from(after.key)];
    const query = `SELECT *, sequence = (SELECT max(sequence) FROM versions AS all_of_key
        WHERE all_of_key.bucket = versions.bucket AND all_of_key.key = versions.key) AS latest
      FROM versions WHERE bucket = ? AND key >= ? AND substr(key, 1, ?) = ? AND (key > ? OR (key = ? AND sequence < ?))
      ORDER BY key, sequence DESC LIMIT ?`;
    return this.#database
      .sql(query)
      .all(bucket, start, start.length, start, seen, seen, this.#sequenceOf(bucket, after), limit)
      .map((row) => ({
        key: utf8(row, 'key'),
        id: text(row, 'id'),
        isLatest: integer(row, 'latest') === 1,
        isMarker: row['content'] === null,
        size: integer(row, 'size'),
        etag: text(row, 'etag'),
        modified: integer(row, 'modified'),
      }));
  }

  #sequenceOf(bucket: string, { key, id }: VersionMarker): number {
    if (id === undefined) return 0;
    const row = this.#database
      .sql('SELECT sequence FROM versions WHERE bucket = ? AND key = ? AND id = ?')
      .get(bucket, Buffer.from(key), id);
    return row === undefined ? 0 : integer(row, 'sequence');
  }
}

const columns = 'bucket, key, content, size, etag, modified, headers, checksum';

/** Version of objects from before the bucket kept versions. */
export const nullVersion = 'null';

/** Where a list of versions goes on: after this version, or after the whole key where it names none. */
export interface VersionMarker {
  key: string;
  id: string | undefined;
}

/** One version of a key, or the mark of its deletion. */
export interface ListedVersion {
  key: string;
  id: string;
  isLatest: boolean;
  isMarker: boolean;
  size: number;
  etag: string;
  modified: number;
}
