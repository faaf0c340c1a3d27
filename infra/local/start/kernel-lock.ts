import { DatabaseSync } from 'node:sqlite';

/**
 * Takes a lock of the kernel's on an SQLite file, which `close` gives back: it goes with the process, even a killed one,
 * and is never stale. Undefined where another process holds it.
 * @param patience milliseconds for which to wait for it
 * @throws Error where the file cannot be opened
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
