import { execFileSync } from 'node:child_process';
import { appendFile, rm, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { count } from '../../../../shared/data/projects/project.ts';
import { LeaseLostError } from '../../../../shared/runner/job/job-error.ts';
import { ArtifactLimitError } from '../../../../shared/runner/outputs/upload/artifact-store.ts';
import { OutputBench } from './output-bench.ts';

describe('an upload of OUTPUT_DIR that something stands in the way of', () => {
  const bench = new OutputBench();

  test('is looked at again when it grows while it is read', async () => {
    await bench.put('log.bin', Buffer.alloc(3_000_000, 1));
    let grown = 0;
    const { objects } = bench.place;
    const growing = {
      ...objects,
      putStream: async (key: string, ...rest: [never, string]) => {
        grown += 1;
        if (grown <= 2) await appendFile(join(bench.folder, 'log.bin'), 'more');
        await objects.putStream(key, ...rest);
      },
    };
    await bench.uploader({ objects: growing }).finish();
    const [file] = await bench.list();
    expect(file).toMatchObject({ size: 3_000_008 });
    expect((await bench.read(file!)).length).toBe(3_000_008);
    expect(await bench.place.counts()).toMatchObject({ stored: 1, storedBytes: 3_000_008 });
    expect([grown, bench.said]).toEqual([3, []]);
  });

  test('is named when it never stops changing', async () => {
    await bench.put('restless', 'x'.repeat(100));
    const { objects } = bench.place;
    let sizeNow = 0;
    const growing = {
      ...objects,
      putStream: async (key: string, bytes: never, type: string) => {
        sizeNow += 1_000;
        await truncate(join(bench.folder, 'restless'), sizeNow);
        await objects.putStream(key, bytes, type);
      },
    };
    await bench.uploader({ objects: growing }).finish();
    expect(bench.said).toEqual([
      expect.stringMatching(
        /^OUTPUT_DIR: "restless" is not kept: the file (changed|became shorter) while it was read\.$/,
      ),
    ]);
    expect(await bench.place.counts()).toMatchObject({ artifacts: 0, stored: 0 });
  });

  test('is refused and named when it is no regular file', async () => {
    await symlink('/etc/passwd', join(bench.folder, 'link'));
    await symlink('/etc', join(bench.folder, 'folder'));
    execFileSync('mkfifo', [join(bench.folder, 'pipe')]);
    await bench.put('good');
    expect(await bench.uploader().finish()).toEqual({ files: 1, bytes: 4 });
    expect(bench.said.sort()).toEqual([
      'OUTPUT_DIR: "folder" is not kept: it is a link.',
      'OUTPUT_DIR: "link" is not kept: it is a link.',
      'OUTPUT_DIR: "pipe" is not kept: it is not a regular file.',
    ]);
  });

  test('is named only in part when much is refused', async () => {
    for (let index = 0; index < 50; index += 1) await symlink('x', join(bench.folder, String(index)));
    await bench.uploader().finish();
    expect(bench.said).toHaveLength(21);
    expect(bench.said.at(-1)).toBe('OUTPUT_DIR: 30 more files are not kept.');
  });

  test('may be nothing at all', async () => {
    await rm(bench.folder, { recursive: true });
    expect(await bench.uploader().finish()).toEqual({ files: 0, bytes: 0 });
    await symlink('/etc', bench.folder);
    expect(await bench.uploader().finish()).toEqual({ files: 0, bytes: 0 });
    expect(bench.said).toEqual([
      'OUTPUT_DIR: some files are not kept, because it is no longer a folder.',
      'OUTPUT_DIR: some files are not kept, because it is no longer a folder.',
    ]);
  });

  test('is limited: what fits is kept, and the limit is named', async () => {
    await bench.put('small', '12345');
    await bench.put('sparse', '');
    await truncate(join(bench.folder, 'sparse'), 2 ** 40);
    const message = 'The files in OUTPUT_DIR exceed the limit of 10 bytes.';
    await expect(bench.uploader({ maxBytes: 10 }).finish()).rejects.toThrow(
      new ArtifactLimitError('artifact', 10),
    );
    expect(new ArtifactLimitError('artifact', 10).message).toBe(message);
    expect(await bench.paths()).toEqual(['small']);
    const one = bench.uploader({ maxBytes: 10 });
    one.start();
    await expect.poll(() => bench.said).toEqual([`stop: ${message}`]);
    await expect(one.finish()).rejects.toThrow(message);
    expect(await bench.place.counts()).toMatchObject({ artifact_bytes: 5, storedBytes: 5 });
  });

  test('is refused when it is large and almost all holes; small ones and solid ones are kept', async () => {
    await bench.put('sparse', 'a few bytes');
    await truncate(join(bench.folder, 'sparse'), 10e9);
    await bench.put('small', 'a few bytes');
    await truncate(join(bench.folder, 'small'), 1e6);
    expect(await bench.uploader({ maxBytes: 20e9, maxProjectBytes: 1e12 }).finish()).toMatchObject({
      files: 1,
      bytes: 1e6,
    });
    expect(bench.said).toEqual([
      expect.stringMatching(
        /OUTPUT_DIR: "sparse" is not kept: it is sparse: only \d+ of its 10000000000 bytes are/,
      ),
    ]);
    expect(await bench.place.counts()).toMatchObject({ artifact_bytes: 1e6, stored: 1 });
  });

  test('is limited by what the project may hold, whoever else fills it meanwhile', async () => {
    const { records, experiment } = bench.place;
    await records.write(count(experiment.project_id, { bytes: 90 }));
    await bench.put('small', '12345');
    await bench.put('too large', '12345678901');
    const message = /The project has 9[05] of at most 100 bytes, so 11 more do not fit\./;
    await expect(bench.uploader({ maxProjectBytes: 100 }).finish()).rejects.toThrow(message);
    await expect(bench.uploader({ maxProjectBytes: 100 }).finish()).rejects.toThrow(ArtifactLimitError);
    expect(await bench.paths()).toEqual(['small']);
    expect(await bench.place.counts()).toMatchObject({ artifact_bytes: 5, bytes: 95, storedBytes: 5 });
  });

  test('is refused where the project is filled while a file is on its way', async () => {
    const { records, objects, experiment } = bench.place;
    const filling: typeof objects = {
      ...objects,
      async putStream(...upload) {
        await objects.putStream(...upload);
        await records.write(count(experiment.project_id, { bytes: 98 }));
      },
    };
    await bench.put('small', '12345');
    const one = bench.uploader({ maxProjectBytes: 100, objects: filling });
    await expect(one.finish()).rejects.toThrow('The project has 98 of at most 100 bytes, so 5 more');
    expect(await bench.place.counts()).toMatchObject({ artifacts: 0, bytes: 98, stored: 0 });
  });

  test('is refused once another holds the lease, and leaves nothing behind', async () => {
    const one = bench.uploader();
    one.start();
    await bench.put('early');
    await bench.uploaded('early', 'early');
    await bench.place.takeOver();
    await bench.put('late');
    await expect(one.finish()).rejects.toThrow(LeaseLostError);
    expect(await bench.place.counts()).toMatchObject({ artifacts: 1, stored: 1, storedBytes: 5 });
  });

  test('is counted once when the answer of the table was lost', async () => {
    const { records } = bench.place;
    let calls = 0;
    const write: typeof records.write = async (...writes) => {
      await records.write(...writes);
      calls += 1;
      if (calls === 1) throw new Error('connection reset');
    };
    await bench.put('model', 'weights');
    expect(await bench.uploader({ records: { ...records, write } }).finish()).toEqual({ files: 1, bytes: 7 });
    expect(await bench.place.counts()).toMatchObject({
      artifacts: 1,
      artifact_bytes: 7,
      objects: 1,
      bytes: 7,
      stored: 1,
    });
  });

  test('is tried again when storage fails for a moment', async () => {
    const { objects } = bench.place;
    let calls = 0;
    const failing = {
      ...objects,
      putStream: async (key: string, bytes: never, type: string) => {
        calls += 1;
        if (calls < 3) throw new Error('503 Slow Down');
        await objects.putStream(key, bytes, type);
      },
    };
    await bench.put('model', 'weights');
    await bench.uploader({ objects: failing }).finish();
    expect(await bench.read((await bench.list())[0]!)).toEqual(Buffer.from('weights'));
  });
});
