import { mkdir, mkdtemp, open, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { databaseFiles, openDatabases, unsealDatabases } from '../../../infra/local/start/databases.ts';

const { name: records } = databaseFiles.tables;
const { name: index } = databaseFiles.files;

describe('the databases of a data folder', () => {
  let path: string;
  const within = (name: string) => join(path, name);
  const opened = () => openDatabases({ path, within }, ['tables', 'files']);

  /** What an emulator does with its file. */
  function write(file: string, rows = 200): DatabaseSync {
    const database = new DatabaseSync(file);
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS rows (text TEXT); BEGIN');
    const insert = database.prepare('INSERT INTO rows VALUES (?)');
    for (let row = 0; row < rows; row += 1) insert.run(`record ${row} with the number 12345`);
    database.exec('COMMIT');
    return database;
  }

  /** A service that starts and stops, or is killed before that. */
  async function run({ isKilled = false } = {}): Promise<void> {
    const databases = await opened();
    for (const name of [records, index]) write(within(name)).close();
    await databases.noteInUse();
    if (!isKilled) await databases.seal();
  }

  async function overwrite(file: string, at: number, bytes: Uint8Array): Promise<void> {
    const handle = await open(within(file), 'r+');
    await handle.write(bytes, 0, bytes.length, at);
    await handle.close();
  }

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'mps-databases-'));
    for (const folder of ['dynamodb', 's3']) await mkdir(within(folder));
  });
  afterEach(() => rm(path, { recursive: true, force: true }));

  test('open again after a stop, and after a kill', async () => {
    await run();
    await run({ isKilled: true });
    await expect(opened()).resolves.toBeDefined();
  });

  test('that are new may be missing, also after a start that failed before they were there', async () => {
    await (await opened()).seal();
    await expect(opened()).resolves.toBeDefined();
  });

  test.each([records, index])('that lost %s are refused, and nothing is created', async (name) => {
    await run();
    await rm(within(name));
    const before = await readdir(path);
    await expect(opened()).rejects.toThrow(`${within(name)} is missing. It contains`);
    await expect(opened()).rejects.toThrow('Restore the whole data folder');
    expect(await readdir(path)).toEqual(before);
    expect(await stat(within(name)).catch(() => 'still missing')).toBe('still missing');
  });

  test('are refused where one is empty, cut short or no database, after a stop and after a kill', async () => {
    for (const isKilled of [false, true]) {
      await run({ isKilled });
      const { size } = await stat(within(records));
      await truncate(within(records), size - 4096);
      await expect(opened()).rejects.toThrow(`${within(records)} is damaged`);
      await truncate(within(records), 50);
      await expect(opened()).rejects.toThrow('it does not begin like an SQLite database');
      await truncate(within(records), 0);
      await expect(opened()).rejects.toThrow('is empty');
      await rm(within(records));
      await unsealDatabases({ within });
      write(within(records)).close();
    }
  });

  test('of which a digit was flipped while the service was stopped are refused', async () => {
    await run();
    const { size } = await stat(within(records));
    await overwrite(records, size - 5, Buffer.from('6'));
    await expect(opened()).rejects.toThrow('its bytes have changed since the service stopped');
  });

  test('of which a page was overwritten are refused after a kill', async () => {
    await run({ isKilled: true });
    await overwrite(index, 4096, Buffer.alloc(200, 0xff));
    await expect(opened()).rejects.toThrow(/index\.sqlite is damaged \(.*(page|malformed)/);
  });

  test('that a kill left with a log open with it', async () => {
    await run();
    const databases = await opened();
    const database = write(within(records));
    await databases.noteInUse();
    // The log is still there, as after a kill.
    await databases.seal();
    await expect(opened()).resolves.toBeDefined();
    database.close();
  });

  test('that another program changed on purpose open where it said so', async () => {
    await run();
    await unsealDatabases({ within });
    write(within(records)).close();
    await expect(opened()).resolves.toBeDefined();
  });

  test('of an earlier release that has listened must be there, too', async () => {
    await writeFile(within('service.json'), '{}');
    await expect(opened()).rejects.toThrow(`${within(records)} is missing`);
  });
});
