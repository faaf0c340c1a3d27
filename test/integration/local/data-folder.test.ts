import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dataFolderVersion, openDataFolder } from '../../../infra/local/start/data-folder.ts';

describe('a data folder', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mps-data-'));
    file = join(folder, 'version.json');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const version = async () => JSON.parse(await readFile(file, 'utf8')).version;

  test('carries its version from its creation', async () => {
    (await openDataFolder(folder)).release();
    expect(await version()).toBe(dataFolderVersion);
    (await openDataFolder(folder)).release();
    expect(await version()).toBe(dataFolderVersion);
  });

  test('of a release before versions opens, and gets one', async () => {
    await mkdir(join(folder, 'dynamodb'));
    await writeFile(join(folder, 'dynamodb/records.db'), '');
    (await openDataFolder(folder)).release();
    expect(await version()).toBe(dataFolderVersion);
  });

  test('of a newer version is refused, unchanged, and says what to do', async () => {
    await writeFile(file, JSON.stringify({ version: dataFolderVersion + 1 }));
    await expect(openDataFolder(folder)).rejects.toThrow(
      `is of version ${dataFolderVersion + 1}, and this release uses versions up to ${dataFolderVersion}. Start it with`,
    );
    expect(await version()).toBe(dataFolderVersion + 1);
    await writeFile(file, JSON.stringify({ version: dataFolderVersion }));
    (await openDataFolder(folder)).release();
  });

  test('whose version cannot be read is refused', async () => {
    await writeFile(file, '{"version":"one"}');
    await expect(openDataFolder(folder)).rejects.toThrow('has no readable version');
  });
});
