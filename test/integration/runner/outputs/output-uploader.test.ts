import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ConditionFailedError } from '../../../../shared/data/table/write-label.ts';
import { ArtifactLimitError } from '../../../../shared/runner/outputs/upload/artifact-store.ts';
import { everySample } from '../../../support/samples.ts';
import { seededBytes } from '../../../support/seeded-bytes.ts';
import { OutputBench, sha256 } from './output-bench.ts';

const randomBytes = seededBytes(6);

describe('what a command leaves in OUTPUT_DIR', () => {
  const bench = new OutputBench();

  test('is stored under its path, with size, hash and media type', async () => {
    await mkdir(join(bench.folder, 'plots'));
    await bench.put('model.onnx', 'weights');
    await bench.put('plots/loss.svg', '<svg/>');
    await bench.put('empty', '');
    expect(await bench.uploader().finish()).toEqual({ files: 3, bytes: 13 });
    const files = await bench.list();
    expect(files.map(({ path, size, media_type }) => [path, size, media_type])).toEqual([
      ['empty', 0, 'application/octet-stream'],
      ['model.onnx', 7, 'application/octet-stream'],
      ['plots/loss.svg', 6, 'image/svg+xml'],
    ]);
    expect(
      await Promise.all(files.map(async (file) => sha256(await bench.read(file)) === file.sha256)),
    ).toEqual([true, true, true]);
    expect(await bench.place.counts()).toMatchObject({
      artifacts: 3,
      artifact_bytes: 13,
      objects: 3,
      bytes: 13,
      stored: 3,
      storedBytes: 13,
    });
    expect(bench.said).toEqual([]);
  });

  test.runIf(everySample)('arrives whole when it is large', async () => {
    const bytes = randomBytes(50_000_000);
    await bench.put('large.bin', bytes);
    await bench.uploader().finish();
    const [file] = await bench.list();
    expect(file?.sha256).toBe(sha256(bytes));
    expect(sha256(await bench.read(file!))).toBe(sha256(bytes));
  });

  test('is stored while it runs, and again when it changes, in place of what was stored', async () => {
    const one = bench.uploader();
    one.start();
    await bench.put('model.pt', 'first');
    await bench.uploaded('model.pt', 'first');
    await bench.put('model.pt', 'second one');
    await bench.uploaded('model.pt', 'second one');
    await bench.put('model.pt', 'the last');
    expect(await one.finish()).toEqual({ files: 1, bytes: 8 });
    expect(await bench.read((await bench.find('model.pt'))!)).toEqual(Buffer.from('the last'));
    expect(await bench.place.counts()).toMatchObject({
      artifacts: 1,
      artifact_bytes: 8,
      objects: 1,
      bytes: 8,
      stored: 1,
      storedBytes: 8,
    });
  });

  test('is stored while it is replaced again and again', async () => {
    const one = bench.uploader({ lookMilliseconds: 200 });
    one.start();
    let step = 0;
    let isOver = false;
    const replacing = (async () => {
      while (!isOver) {
        step += 1;
        await bench.put('.step', String(step));
        await rename(join(bench.folder, '.step'), join(bench.folder, 'step'));
        await sleep(50);
      }
    })();
    try {
      await expect.poll(() => bench.find('step')).toBeDefined();
      const first = await bench.find('step');
      await expect.poll(() => bench.find('step')).not.toEqual(first);
    } finally {
      isOver = true;
      await replacing;
    }
    await one.finish();
    expect(await bench.read((await bench.find('step'))!)).toEqual(Buffer.from(String(step)));
  });

  test('goes when the command renames or removes it, but not what an earlier attempt left', async () => {
    await bench.put('earlier', 'kept');
    await bench.uploader().finish();
    await rm(join(bench.folder, 'earlier'));
    const one = bench.uploader();
    one.start();
    await bench.put('model.tmp', 'weights');
    await bench.uploaded('model.tmp', 'weights');
    await rename(join(bench.folder, 'model.tmp'), join(bench.folder, 'model.pt'));
    await expect.poll(() => bench.paths()).toEqual(['earlier', 'model.pt']);
    await one.finish();
    expect(await bench.place.counts()).toMatchObject({
      artifacts: 2,
      artifact_bytes: 11,
      objects: 2,
      bytes: 11,
      stored: 2,
      storedBytes: 11,
    });
  });

  test('is not uploaded again when an earlier attempt left the same', async () => {
    await bench.put('model', 'weights');
    await bench.uploader().finish();
    const before = await bench.list();
    await rm(join(bench.folder, 'model'));
    await bench.put('model', 'weights');
    await bench.uploader().finish();
    expect(await bench.list()).toEqual(before);
    await bench.put('model', 'WEIGHTS');
    await bench.uploader().finish();
    expect((await bench.list()).map((file) => file.sha256)).toEqual([sha256('WEIGHTS')]);
  });

  test('is found changed at the end even when its times do not tell', async () => {
    await bench.put('mapped', 'nobody');
    const write = [
      'import mmap, sys',
      'file = open(sys.argv[1], "r+b")',
      'memory = mmap.mmap(file.fileno(), 0)',
      'for line in sys.stdin: memory[:] = line[:6].encode()',
    ].join('\n');
    const writer = spawn('python3', ['-c', write, join(bench.folder, 'mapped')]);
    writer.stdin.write('before\n');
    const one = bench.uploader();
    one.start();
    await bench.uploaded('mapped', 'before');
    writer.stdin.end('after!\n');
    await once(writer, 'exit');
    await one.finish();
    expect((await bench.find('mapped'))?.sha256).toBe(sha256('after!'));
  });

  test('may be many files, which are counted right and limited exactly', async () => {
    for (let index = 0; index < 100; index += 1) await bench.put(`file-${index}`, 'x'.repeat(10));
    await expect(bench.uploader({ maxBytes: 605 }).finish()).rejects.toThrow(ArtifactLimitError);
    expect(await bench.place.counts()).toMatchObject({
      artifacts: 60,
      artifact_bytes: 600,
      objects: 60,
      bytes: 600,
      stored: 60,
    });
    expect(await bench.uploader().finish()).toEqual({ files: 100, bytes: 1000 });
    expect(await bench.place.counts()).toMatchObject({
      artifacts: 100,
      artifact_bytes: 1000,
      objects: 100,
      bytes: 1000,
      stored: 100,
    });
  });

  test('is recorded some files at a time where the record of one takes longer than others arrive', async () => {
    const { records, objects } = bench.place;
    const counts = { files: 60, stored: 0, recorded: 0, writes: 0 };
    const putStream: typeof objects.putStream = async (...stream) => {
      await objects.putStream(...stream);
      counts.stored += 1;
    };
    const write: typeof records.write = async (...items) => {
      counts.writes += 1;
      // Six are uploaded at once.
      while (counts.stored < Math.min(counts.files, counts.recorded + 6)) await sleep(1);
      await records.write(...items);
      counts.recorded += items.length - 3;
    };
    for (let index = 0; index < counts.files; index += 1) await bench.put(`file-${index}`);

    await bench.uploader({ records: { ...records, write }, objects: { ...objects, putStream } }).finish();

    expect(counts.writes).toBeLessThanOrEqual(30);
    expect(await bench.place.counts()).toMatchObject({ artifacts: 60, objects: 60, stored: 60 });
  });

  test('is recorded file by file if files cannot be recorded together', async () => {
    const { records } = bench.place;
    const filesOf = (items: readonly object[]) => items.length - 3;
    const write: typeof records.write = (...items) =>
      filesOf(items) > 1 ? Promise.reject(new ConditionFailedError([])) : records.write(...items);
    for (let index = 0; index < 12; index += 1) await bench.put(`file-${index}`);

    await bench.uploader({ records: { ...records, write } }).finish();

    expect(await bench.place.counts()).toMatchObject({ artifacts: 12, objects: 12, stored: 12 });
  });
});
