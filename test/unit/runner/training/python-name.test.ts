import { chmod, mkdir, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withPythonNames } from '../../../../shared/runner/training/python-name.ts';

describe('the names of Python in the search path of a command', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'python-name-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** A folder with these programs. */
  async function folderOf(...names: string[]): Promise<string> {
    const folder = join(root, `with-${names.join('-')}`);
    await mkdir(folder);
    for (const name of names) await writeFile(join(folder, name), '#!/bin/sh\n', { mode: 0o755 });
    return folder;
  }

  test.each([
    ['python3', 'python'],
    ['python', 'python3'],
  ])('where only %s is, %s is there too, at the end', async (there, missing) => {
    const path = await folderOf(there);

    const found = await withPythonNames(path, { root, source: root });

    expect(found).toBe(`${path}:${root}/bin`);
    expect(await readlink(join(root, 'bin', missing))).toBe(join(path, there));
  });

  test('a python that may not be executed is none', async () => {
    const path = await folderOf('python', 'python3');
    await chmod(join(path, 'python'), 0o644);

    await withPythonNames(path, { root, source: root });

    expect(await readlink(join(root, 'bin', 'python'))).toBe(join(path, 'python3'));
  });

  test.each([[['python', 'python3']], [[]]])('with %j the search path is unchanged', async (names) => {
    const path = await folderOf(...names);

    expect(await withPythonNames(path, { root, source: root })).toBe(path);
  });
});
