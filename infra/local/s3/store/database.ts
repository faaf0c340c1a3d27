import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';

/**
 * The index of all stored data, in SQLite. Calls are synchronous, so transactions never interleave. This alone
 * makes conditional writes atomic for all keys.
 */
export class Database {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Open or create the file, and lock it against other processes. @throws Error if it is in use */
  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    try {
      // FULL: a commit is on the disk when it returns. EXCLUSIVE: the lock ends with the process, even after a
      // kill.
      this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;');
      this.#database.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -8000;');
      this.#database.exec(`BEGIN EXCLUSIVE; ${schema} COMMIT;`);
    } catch (cause) {
      this.#database.close();
      throw new Error(`${file} cannot be opened; is another S3 server using its folder?`, { cause });
    }
  }

  /** Return the cached prepared statement for a text. */
  sql(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  /** Prepare a separate statement, to iterate while others run. */
  cursor(text: string): StatementSync {
    return this.#database.prepare(text);
  }

  /** Run `work` as one transaction. Roll back if it throws. */
  write<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}

/**
 * Keys are BLOBs: they sort by their UTF-8 bytes and may contain any character. `content` names an immutable run
 * of files (segments) that objects refer to; a copy is one more reference. `versions` has every version of a
 * bucket that keeps versions, including the current one; a version without content marks a deletion. `garbage`
 * lists unreferenced files. The transaction that drops the last reference writes the row, so a crash before the
 * removal of the file loses no disk space. `sums` has the CRC-32 of each block of a file. The transaction that
 * first refers to the file writes it; files of earlier releases have none. `damaged` lists files that differ from
 * their stored state, with the first bad block.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS objects (
    bucket TEXT NOT NULL, key BLOB NOT NULL, content TEXT NOT NULL, size INTEGER NOT NULL,
    etag TEXT NOT NULL, modified INTEGER NOT NULL, headers TEXT NOT NULL, checksum TEXT,
    PRIMARY KEY (bucket, key)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS objects_by_content ON objects (content);
  CREATE TABLE IF NOT EXISTS versioned_buckets (name TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS versions (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, bucket TEXT NOT NULL, key BLOB NOT NULL,
    content TEXT, size INTEGER NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL, headers TEXT NOT NULL,
    checksum TEXT
  );
  CREATE INDEX IF NOT EXISTS versions_by_key ON versions (bucket, key, sequence);
  CREATE INDEX IF NOT EXISTS versions_by_content ON versions (content);
  CREATE TABLE IF NOT EXISTS segments (
    content TEXT NOT NULL, ordinal INTEGER NOT NULL, file TEXT NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (content, ordinal)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS segments_by_file ON segments (file);
  CREATE TABLE IF NOT EXISTS uploads (
    id TEXT PRIMARY KEY, bucket TEXT NOT NULL, key BLOB NOT NULL, initiated INTEGER NOT NULL,
    headers TEXT NOT NULL, checksum TEXT
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS uploads_by_key ON uploads (bucket, key, id);
  CREATE TABLE IF NOT EXISTS parts (
    upload TEXT NOT NULL, number INTEGER NOT NULL, file TEXT NOT NULL, size INTEGER NOT NULL,
    etag TEXT NOT NULL, modified INTEGER NOT NULL, checksum TEXT,
    PRIMARY KEY (upload, number)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS parts_by_file ON parts (file);
  CREATE TABLE IF NOT EXISTS garbage (file TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sums (file TEXT PRIMARY KEY, sums BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS damaged (file TEXT PRIMARY KEY, block INTEGER NOT NULL) WITHOUT ROWID;
`;

/** Return the text in a column. @throws TypeError if the column contains something else */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw unexpected(column);
  return value;
}

/** A row of the database. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

function unexpected(column: string): TypeError {
  return new TypeError(`The S3 index holds an unexpected value in column ${column}.`);
}

/** Return the number in a column. @throws TypeError if the column contains something else */
export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw unexpected(column);
  return value;
}

/** Return the bytes in a column as UTF-8 text. @throws TypeError if the column contains something else */
export function utf8(row: Row, column: string): string {
  return Buffer.from(blob(row, column)).toString('utf8');
}

/** Return the bytes in a column. @throws TypeError if the column contains something else */
export function blob(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw unexpected(column);
  return value;
}
