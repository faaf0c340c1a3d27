import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FileBytes, FileChangedError } from '../../../../shared/runner/outputs/upload/file-bytes.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-file-bytes-'));
  path = join(folder, 'model.pt');
  await writeFile(path, 'the whole checkpoint');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a file that is being written again when its turn comes is not read as complete', async () => {
  await using handle = await open(path);
  const found = await handle.stat({ bigint: true });
  // The writer has begun and pauses: nothing changes while the file is read.
  await writeFile(path, 'the whole');
  const bytes = await FileBytes.of({ handle, found });
  await expect(bytes.hash()).rejects.toThrow(FileChangedError);
});

test('a file that was replaced meanwhile is read as it was found', async () => {
  await using handle = await open(path);
  const found = await handle.stat({ bigint: true });
  await rm(path);
  await writeFile(path, 'the next');
  const bytes = await FileBytes.of({ handle, found });
  expect(await bytes.hash()).toMatch(/^[0-9a-f]{64}$/);
  expect(bytes.size).toBe('the whole checkpoint'.length);
});

test('without that a file is what it is now', async () => {
  await using handle = await open(path);
  await writeFile(path, 'the whole');
  expect((await FileBytes.of({ handle })).size).toBe('the whole'.length);
});
