import { chmod, mkdir, mkdtemp, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WorkingFolder } from '../../../../shared/runner/outputs/working-folder.ts';
import { OutputBench } from './output-bench.ts';

describe('what a command leaves in its working folder', () => {
  const bench = new OutputBench();
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'working-'));
    await put('train.py', 'print()');
    await put('notes.txt', 'old');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function put(path: string, text: string | Uint8Array = path): Promise<void> {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }

  /** Let a command do something in the folder, and keep what it leaves. */
  async function ran(command: () => Promise<unknown>, maxBytes = 1e9): Promise<string[]> {
    const artifacts = bench.uploader({ maxBytes });
    const working = new WorkingFolder({
      folder,
      user: undefined,
      log: (path, file) => artifacts.log(path, file),
      room: () => artifacts.room,
      say: (message) => bench.said.push(message),
    });
    await working.note();
    await command();
    await artifacts.finish();
    return working.keep();
  }

  test('becomes artifacts below workdir/ if it is new or changed', async () => {
    const warnings = await ran(async () => {
      await put('model.txt', 'tree');
      await put('out/metrics.json', '{}');
      await put('notes.txt', 'changed');
      await chmod(join(folder, 'train.py'), 0o755);
    });

    expect(await bench.paths()).toEqual([
      'workdir/model.txt',
      'workdir/notes.txt',
      'workdir/out/metrics.json',
    ]);
    expect(warnings).toEqual([]);
    expect(bench.said).toEqual([]);
  });

  test('is kept without caches, environments and histories', async () => {
    await ran(async () => {
      for (const path of [
        '__pycache__/train.cpython-311.pyc',
        'lib/__pycache__/a.pyc',
        'old.pyc',
        '.git/HEAD',
        '.cache/huggingface/model.bin',
        'node_modules/a/index.js',
        'env/pyvenv.cfg',
        'env/lib/site.py',
        'kept/env.txt',
      ])
        await put(path);
    });

    expect(await bench.paths()).toEqual(['workdir/kept/env.txt']);
  });

  test('is named with its size where artifacts have no room for it', async () => {
    const warnings = await ran(async () => {
      await put('data/big.bin', new Uint8Array(5_000));
      await put('data/small.csv', 'x,y\n');
      await put('model.pt', new Uint8Array(400));
    }, 1_000);

    expect(await bench.paths()).toEqual(['workdir/data/small.csv', 'workdir/model.pt']);
    expect(warnings).toEqual([expect.stringMatching(/not kept.*: data\/big\.bin \(5\.00 kB\)\.$/i)]);
    expect(bench.said).toEqual(warnings);
  });

  test('is kept up to a number of files, and a folder of many is named as one', async () => {
    const warnings = await ran(async () => {
      await mkdir(join(folder, 'images'));
      await Promise.all(
        Array.from({ length: 2_001 }, (_, at) => writeFile(join(folder, `images/${at}`), '')),
      );
      await put('model.pt');
    });

    expect(await bench.paths()).toEqual(['workdir/model.pt']);
    expect(warnings).toEqual([expect.stringContaining(': images/ (2001 files, 0 B).')]);
  });

  test('is no link, nor a file that is mostly holes, and is then named', async () => {
    await symlink('train.py', join(folder, 'was-there'));
    await ran(async () => {
      await symlink('/etc/passwd', join(folder, 'latest'));
      await put('holes', '');
      await truncate(join(folder, 'holes'), 200_000_000);
    });

    expect(await bench.paths()).toEqual([]);
    expect(bench.said).toEqual([
      'The working folder: "latest" is not kept: it is a link.',
      expect.stringMatching(/^The working folder: "holes" is not kept: it is sparse/),
    ]);
  });

  test('does not replace a file of OUTPUT_DIR', async () => {
    await mkdir(join(bench.folder, 'workdir'));
    await bench.put('workdir/model.txt', 'of OUTPUT_DIR');

    await ran(() => put('model.txt', 'of the working folder'));

    const found = await bench.find('workdir/model.txt');
    expect((await bench.read(found!)).toString()).toBe('of OUTPUT_DIR');
  });

  test('counts as changed if it was replaced by a file of the same size and time', async () => {
    const at = new Date('2026-01-01');
    await utimes(join(folder, 'notes.txt'), at, at);

    await ran(async () => {
      // Both are there at once, so the new one has another inode.
      await put('next', 'new');
      await rename(join(folder, 'next'), join(folder, 'notes.txt'));
      await utimes(join(folder, 'notes.txt'), at, at);
    });

    expect(await bench.paths()).toEqual(['workdir/notes.txt']);
  });
});
