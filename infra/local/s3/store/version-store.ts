import { randomBytes } from 'node:crypto';
import { type Database, integer, text, utf8 } from './database.ts';
import { parseObject, type StoredObject } from './stored-object.ts';

/** The versions of objects in versioned buckets. Every method runs within a transaction of its caller. */
export class VersionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  isKept(bucket: string): boolean {
    return this.#database.sql('SELECT 1 FROM versioned_buckets WHERE name = ?').get(bucket) !== undefined;
  }

  /** Keep versions from now on. Existing objects become the version "null" of their keys. */
  keep(bucket: string): void {
    if (this.isKept(bucket)) return;
    this.#database.sql('INSERT INTO versioned_buckets VALUES (?)').run(bucket);
    this.#database
      .sql(`INSERT INTO versions (id, ${columns}) SELECT ?, ${columns} FROM objects WHERE bucket = ?`)
      .run(nullVersion, bucket);
  }

  /** Record the key's current object as its latest version. */
  noteCurrent(bucket: string, key: string): void {
    this.#database
      .sql(
        `INSERT INTO versions (id, ${columns}) SELECT ?, ${columns} FROM objects WHERE bucket = ? AND key = ?`,
      )
      .run(randomBytes(16).toString('hex'), bucket, Buffer.from(key));
  }

  /** Record the deletion of a key as its latest version. */
  noteDeletion(bucket: string, key: string): void {
    this.#database
      .sql(`INSERT INTO versions (id, ${columns}) VALUES (?, ?, ?, NULL, 0, '', ?, '{}', NULL)`)
      .run(randomBytes(16).toString('hex'), bucket, Buffer.from(key), Date.now());
  }

  /** Remove a version. Return the name of its bytes, if there was one. */
  remove(bucket: string, key: string, id: string): string | undefined {
    const row = this.#database
      .sql('DELETE FROM versions WHERE bucket = ? AND key = ? AND id = ? RETURNING content')
      .get(bucket, Buffer.from(key), id);
    return row === undefined || row['content'] === null ? undefined : text(row, 'content');
  }

  /** Return the object of a key's latest version. Return undefined for a deletion, or if there is no version. */
  latest(bucket: string, key: string): StoredObject | undefined {
    const row = this.#database
      .sql('SELECT * FROM versions WHERE bucket = ? AND key = ? ORDER BY sequence DESC LIMIT 1')
      .get(bucket, Buffer.from(key));
    return row === undefined || row['content'] === null ? undefined : parseObject(row);
  }

  /** Return at most `limit` versions in key order, latest first within a key. */
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

/** Version id of objects from before the bucket kept versions. */
export const nullVersion = 'null';

/** Start of a page of versions: after this version, or after the whole key if it names none. */
export interface VersionMarker {
  key: string;
  id: string | undefined;
}

/** One version of a key, or a delete marker. */
export interface ListedVersion {
  key: string;
  id: string;
  isLatest: boolean;
  isMarker: boolean;
  size: number;
  etag: string;
  modified: number;
}
