import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/**
 * Notes of the search for orphans on each item and object, in a temporary file. Memory is limited to the cache for
 * deployments of any size.
 */
export class OrphanStore implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'orphans-'));
  readonly #database = new DatabaseSync(join(this.#folder, 'store.db'));
  readonly #statements = new Map<string, StatementSync>();

  constructor() {
    // The file is useless after a crash, so it needs no journal.
    this.#database.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${cacheKiB}; PRAGMA temp_store = FILE`,
    );
    this.#database.exec(tables);
    this.#database.exec('BEGIN');
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Add a row, or replace an existing one. */
  add(table: string, ...values: SQLInputValue[]): void {
    this.#prepare(`INSERT OR REPLACE INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(
      ...values,
    );
  }

  run(sql: string, ...values: SQLInputValue[]): void {
    this.#prepare(sql).run(...values);
  }

  has(sql: string, ...values: SQLInputValue[]): boolean {
    return this.#prepare(sql).get(...values) !== undefined;
  }

  /** Yield rows with their columns as strings. */
  *rows(sql: string, ...values: SQLInputValue[]): Generator<Record<string, string>> {
    // Prepare a separate statement, because others run during the iteration.
    for (const row of this.#database.prepare(sql).iterate(...values)) {
      yield Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]));
    }
  }

  [Symbol.dispose](): void {
    this.#statements.clear();
    this.#database.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const cacheKiB = 64 * 1024;

const tables = `
  CREATE TABLE owner (kind TEXT, id TEXT, PRIMARY KEY (kind, id)) WITHOUT ROWID;
  CREATE TABLE job (id TEXT PRIMARY KEY, project_id TEXT, user_id TEXT, status TEXT, size REAL, share INTEGER, cluster INTEGER, waits INTEGER);
  CREATE TABLE experiment (id TEXT PRIMARY KEY, project_id TEXT) WITHOUT ROWID;
  CREATE TABLE item (pk TEXT, sk TEXT, kind TEXT, owner TEXT);
  CREATE TABLE object (key TEXT, kind TEXT, owner TEXT, child_kind TEXT, child TEXT);
  CREATE TABLE named (key TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE stored (kind TEXT, owner TEXT, objects INTEGER, bytes INTEGER, PRIMARY KEY (kind, owner)) WITHOUT ROWID;
  CREATE TABLE configs (project_id TEXT PRIMARY KEY, number INTEGER) WITHOUT ROWID;
  CREATE TABLE member (project_id TEXT, user_id TEXT, PRIMARY KEY (project_id, user_id)) WITHOUT ROWID;
  CREATE TABLE kept (pk TEXT, sk TEXT, attribute TEXT, value REAL, PRIMARY KEY (pk, sk, attribute)) WITHOUT ROWID;
  CREATE TABLE unfinished (sk TEXT, pk TEXT, PRIMARY KEY (sk, pk)) WITHOUT ROWID;
  CREATE TABLE doomed_part (pk TEXT, prefix TEXT);
  CREATE INDEX doomed_part_pk ON doomed_part (pk);
  CREATE TABLE doomed_prefix (prefix TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE doomed_project (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE finding (kind TEXT, location TEXT, why TEXT);
`;
