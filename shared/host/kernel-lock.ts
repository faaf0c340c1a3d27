import { DatabaseSync } from 'node:sqlite';

/**
 * Take a kernel lock on an SQLite file; `close` releases it. It ends with the process, even after a kill, so it is
 * never stale. Return undefined if another process holds it.
 * @param patience milliseconds to wait for the lock
 * @throws Error if the file cannot be opened or written, for example on a full disk
 */
export function takeKernelLock(file: string, patience = 0): DatabaseSync | undefined {
  const database = new DatabaseSync(file, { timeout: patience });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return undefined;
    throw error;
  }
}

/** Result code of SQLite: another connection holds the lock. */
const sqliteBusy = 5;
