import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dataFolderVersion, openDataFolder } from '../../../infra/local/start/data-folder.ts';

const run = promisify(execFile);

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

  test('that is a file, or lies below one, is refused in a sentence', async () => {
    await writeFile(file, '');
    for (const path of [file, join(file, 'below')])
      await expect(openDataFolder(path)).rejects.toThrow(
        `The data folder ${path} cannot be used: it is a file, or lies below one. Choose another one with --data.`,
      );
  });

  test('that no file can be written to is refused in a sentence', async () => {
    const path = '/sys/fs/mps-data';
    await expect(openDataFolder(process.platform === 'linux' ? path : '/dev/null/x')).rejects.toThrow(
      /^The data folder \S+ cannot be used: .*\. Choose another one with --data\.$/,
    );
  });

  test.runIf(process.getuid?.() === 0)(
    'of another user is refused, and so is one without rights',
    async () => {
      (await openDataFolder(folder)).release();
      const script = `
      import { openDataFolder } from ${JSON.stringify(join(import.meta.dirname, '../../../infra/local/start/data-folder.ts'))};
      process.setgid(65534); process.setuid(65534);
      await openDataFolder(process.argv[1]).catch((error) => console.log(error.name, error.message));
    `;
      const refusals: string[] = [];

      for (const mode of [0o755, 0o777]) {
        await chmod(folder, mode);
        const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script, folder]);
        refusals.push(stdout);
      }

      expect(refusals[0]).toMatch(
        /^CommandError The data folder \S+ cannot be used: the user \S+ may not write \S+, which belongs to root\. Choose/,
      );
      expect(refusals[1]).toMatch(
        /cannot be used: the user \S+ may not write \S+\/\S+, which belongs to root\. Choose/,
      );
    },
  );
});
