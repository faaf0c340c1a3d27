import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readDataFolder } from '../../../functions/service/data-folder-size.ts';
import { DataSize } from '../../../infra/local/start/data-size.ts';
import { EnvironmentFolder } from '../../../shared/runner/environment/environment-folder.ts';

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'mps-size-'));
});
afterEach(() => rm(path, { recursive: true, force: true }));

test('a data folder above its limit loses caches, never what people stored, and says what it has', async () => {
  const folders = { work: join(path, 'work'), environments: join(path, 'environments') };
  for (const name of ['work', 's3', 'environments/p1']) await mkdir(join(path, name), { recursive: true });
  await writeFile(join(path, 's3/model'), Buffer.alloc(3_000_000));
  // Its marker states more than it has, as that of an environment of links does.
  const environment = new EnvironmentFolder(join(folders.environments, 'p1'), 'a'.repeat(64));
  await mkdir(environment.folder);
  await writeFile(join(environment.folder, 'module'), Buffer.alloc(1_000_000));
  await environment.complete({ key: 'a'.repeat(64), lockHash: '', buildSeconds: 1, bytes: 400_000_000 });
  await utimes(`${environment.folder}.complete`, new Date(0), new Date(0));
  const data = { path, within: (name: string) => join(path, name) };

  const roomy = await DataSize.of(data, folders, 5_000_000);
  expect(roomy.text).toBe('at most 5.00 MB');
  expect(await roomy.check()).toBeUndefined();
  expect(await environment.read()).not.toBeNull();
  expect(roomy.text).toMatch(/^4\.\d\d MB of at most 5\.00 MB$/);

  const tight = await DataSize.of(data, folders, 2_000_000);
  expect(tight.text).toMatch(/^4\.\d\d MB of at most 2\.00 MB$/);
  expect(await tight.check()).toMatch(
    /^The data folder has [\d.]+ MB, more than its limit of 2\.00 MB: 3\.0\d MB of records, .* raise --data-limit\.$/,
  );
  expect((await readFile(join(path, 's3/model'))).length).toBe(3_000_000);
});

test('caches may have what the limit leaves beside all else, less a tenth for what is being built', async () => {
  const folders = { work: join(path, 'work'), environments: join(path, 'environments') };
  await mkdir(join(path, 's3'));
  await writeFile(join(path, 's3/model'), Buffer.alloc(3_000_000));
  const size = await DataSize.of({ path, within: (name) => join(path, name) }, folders, 1_000_000_000);

  expect(size.cacheBytes).toBe(900_000_000);
  expect(await readDataFolder(join(path, 'size.json'))).toBeNull();
  await size.check();
  const { bytes, limit } = (await readDataFolder(join(path, 'size.json'))) ?? {};
  expect(limit).toBe(1_000_000_000);
  expect(bytes).toBeGreaterThanOrEqual(3_000_000);
  expect(size.cacheBytes).toBeLessThanOrEqual(897_000_000);
});
