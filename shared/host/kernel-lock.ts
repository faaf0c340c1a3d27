import { DatabaseSync } from 'node:sqlite';

/**
 * Take a kernel lock on an SQLite file; `close` releases it. It ends with the process, even after a kill, so it is
 * never stale. Return undefined if another process holds it.
 * @param patience milliseconds to wait for the lock
 * @throws Error if the file cannot be opened
 */
export function takeKernelLock(file: string, patience = 0): DatabaseSync | undefined {
  const database = new DatabaseSync(file, { timeout: patience });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch {
    database.close();
    return undefined;
  }
}
