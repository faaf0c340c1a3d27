import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAtMost } from '../../../../shared/runner/host/read-at-most.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-at-most-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function reading(text: string, maxBytes: number) {
  const path = join(folder, 'file');
  await writeFile(path, text);
  await using handle = await open(path);
  return (await readAtMost(handle, maxBytes))?.toString('utf8');
}

test('a file up to the limit is read whole', async () => {
  expect(await reading('seven', 5)).toBe('seven');
  expect(await reading('', 5)).toBe('');
});

test('a larger file is not read', async () => {
  expect(await reading('eleven', 5)).toBeUndefined();
});

test('what is added to a file while it is read stays out', async () => {
  const path = join(folder, 'growing');
  await writeFile(path, 'now');
  await using handle = await open(path);
  const stat = handle.stat.bind(handle);
  handle.stat = (async () => {
    const facts = await stat();
    await writeFile(path, ' and later', { flag: 'a' });
    return facts;
  }) as typeof handle.stat;

  expect((await readAtMost(handle, 100))?.toString('utf8')).toBe('now');
});
