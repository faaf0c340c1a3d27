import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ignoresCase, sameButForCase } from '../../../shared/host/ignores-case.ts';

test.each([
  [
    ['a.txt', 'b/A.txt', 'A.txt'],
    ['a.txt', 'A.txt'],
  ],
  [
    ['Modelle/ä', 'modelle/a\u0308'],
    ['Modelle/ä', 'modelle/a\u0308'],
  ],
  [['a.txt', 'a.txt', 'a/b', 'ab'], undefined],
  [[], undefined],
])('of %j the pair that differs only in case is %j', (paths, pair) => {
  expect(sameButForCase(paths)).toEqual(pair);
});

describe('a file system', () => {
  let folder: string;
  let isMounted = false;
  const run = (file: string, ...args: string[]) => spawnSync(file, args, { stdio: 'ignore' }).status === 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mps-cases-'));
    await mkdir(join(folder, 'fat'));
    const image = join(folder, 'image');
    isMounted =
      run('truncate', '--size=1M', image) &&
      run('mkfs.vfat', image) &&
      run('mount', '-o', 'loop', image, join(folder, 'fat'));
  });
  afterAll(async () => {
    if (isMounted) run('umount', join(folder, 'fat'));
    await rm(folder, { recursive: true });
  });

  test.runIf(process.platform === 'linux')(
    'of Linux tells cases apart, and keeps nothing of the question',
    async () => {
      expect(await ignoresCase(join(folder, 'not/there/yet'))).toBe(false);
      expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/case/i));
    },
  );

  test('without cases is found out, where one can be mounted', async (context) => {
    if (!isMounted) return context.skip('no file system without cases can be mounted here');

    expect(await ignoresCase(join(folder, 'fat'))).toBe(true);
  });
});
