import { mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { linkModules } from '../../../../shared/runner/environment/prepare-run-environment.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'modules-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function packages(name: string, ...paths: string[]): Promise<string> {
  for (const path of paths) {
    await mkdir(join(folder, name, path), { recursive: true });
    await writeFile(join(folder, name, path, 'from'), name);
  }
  return join(folder, name);
}
const whose = (path: string) => readFile(join(folder, 'source', path, 'from'), 'utf8');

test('a source without packages gets a link to all of them', async () => {
  const installed = await packages('installed', 'a');
  await mkdir(join(folder, 'source'));
  await linkModules(installed, join(folder, 'source', 'node_modules'));
  expect(await readlink(join(folder, 'source', 'node_modules'))).toBe(installed);
});

test('packages that a source brings count first, and those that it lacks are added, also within a scope', async () => {
  const installed = await packages('installed', 'a', 'b', '@x/a', '@x/b', '@y/a', '.bin');
  const vendored = await packages('source', 'a', '@x/a');
  await linkModules(installed, vendored);
  expect(await Promise.all(['a', '@x/a', 'b', '@x/b', '@y/a'].map(whose))).toEqual([
    ...['source', 'source'],
    ...['installed', 'installed', 'installed'],
  ]);
  await expect(whose('.bin')).rejects.toThrow('ENOENT');
});

test('nothing is made behind a link that a source brings', async () => {
  const installed = await packages('installed', 'a', '@x/a');
  const outside = await packages('outside', 'z');
  await mkdir(join(folder, 'source'));
  await symlink(outside, join(folder, 'source', 'node_modules'));
  await linkModules(installed, join(folder, 'source', 'node_modules'));
  const vendored = await packages('vendored', 'b');
  await symlink(outside, join(vendored, '@x'));
  await linkModules(installed, vendored);
  await expect(readFile(join(outside, 'a', 'from'))).rejects.toThrow('ENOENT');
});
