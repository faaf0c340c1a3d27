import type { BlobFolder } from './blob-folder.ts';
import { type Database, text } from './database.ts';

/** Remove the files of unreferenced contents when no request reads them any more. */
export class Garbage {
  readonly #database: Database;
  readonly #blobs: BlobFolder;
  readonly #readers = new Map<string, number>();
  /**
   * Removed files. The next transaction deletes their rows. A remaining row only costs one check at the next
   * start.
   */
  readonly #removed: string[] = [];
  #running: Promise<void> | undefined;
  #again = false;

  constructor(database: Database, blobs: BlobFolder) {
    this.#database = database;
    this.#blobs = blobs;
  }

  /** Within a transaction: drop the segments of a content if no object refers to it any more. */
  release(content: string): void {
    const database = this.#database;
    const referring = ['objects', 'versions'].map((table) => `SELECT 1 FROM ${table} WHERE content = ?`);
    if (database.sql(referring.join(' UNION ALL ')).get(content, content) !== undefined) return;
    database.sql('INSERT INTO garbage SELECT file, content FROM segments WHERE content = ?').run(content);
    database.sql('DELETE FROM segments WHERE content = ?').run(content);
  }

  /** Within a transaction: mark a file for removal that was never part of an object. */
  doom(file: string): void {
    this.#database.sql('INSERT INTO garbage VALUES (?, ?)').run(file, file);
  }

  /** Within a transaction: delete the rows of files removed since the last transaction. */
  forget(): void {
    for (const file of this.#removed.splice(0)) {
      for (const table of ['garbage', 'sums', 'damaged']) {
        this.#database.sql(`DELETE FROM ${table} WHERE file = ?`).run(file);
      }
    }
  }

  /** Keep the files of a content until the caller calls the returned function. */
  pin(content: string): () => void {
    this.#readers.set(content, (this.#readers.get(content) ?? 0) + 1);
    return () => {
      const left = (this.#readers.get(content) ?? 1) - 1;
      if (left > 0) this.#readers.set(content, left);
      else if (this.#readers.delete(content)) this.collect();
    };
  }

  /** Start to remove files, or let the running removal check again. */
  collect(): void {
    this.#again = true;
    this.#running ??= this.#collectAll().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolve when no removal is in progress. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #collectAll(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      const removed = new Set(this.#removed);
      for (const row of this.#database.sql('SELECT file, content FROM garbage').all()) {
        const file = text(row, 'file');
        if (removed.has(file) || this.#readers.has(text(row, 'content'))) continue;
        try {
          await this.#blobs.remove(file);
          this.#removed.push(file);
        } catch {
          // The row remains, so the next removal or the next start tries again.
        }
      }
    }
  }
}
