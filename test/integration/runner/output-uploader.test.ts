import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Artifact, findArtifact, listArtifacts } from '../../../shared/data/artifact.ts';
import { ArtifactLimit } from '../../../shared/runner/artifact-limit.ts';
import { LeaseLost } from '../../../shared/runner/lease-lost.ts';
import { OutputUploader, type OutputUploaderOptions } from '../../../shared/runner/output-uploader.ts';
import { type LeasedExperiment, leasedExperiment } from './leased-experiment.ts';

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
let ids = 0;

describe('what a command leaves in OUTPUT_DIR', () => {
  let place: LeasedExperiment;
  let folder: string;
  let said: string[];

  beforeEach(async () => {
    place = await leasedExperiment();
    folder = await mkdtemp(join(tmpdir(), 'output-'));
    said = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const uploader = (options: Partial<OutputUploaderOptions> = {}) =>
    new OutputUploader({
      ...place,
      folder,
      kind: 'artifact',
      newId: () => {
        ids += 1;
        return `id-${ids}`;
      },
      now: () => new Date('2026-01-02T03:04:05.678Z'),
      say: (message) => said.push(message),
      maxBytes: 1e9,
      onLimit: (error) => said.push(`stop: ${error.message}`),
      lookMilliseconds: 5,
      ...options,
    });
  const put = (path: string, text: string | Uint8Array = path) => writeFile(join(folder, path), text);
  const find = (path: string) => findArtifact(place.records, place.experiment.experiment_id, path);
  const uploaded = (path: string, text: string) =>
    expect.poll(async () => (await find(path))?.sha256, { timeout: 10_000 }).toBe(sha256(text));
  const list = async (): Promise<Artifact[]> =>
    (await listArtifacts(place.records, place.experiment.experiment_id, { after: undefined })).items;
  const paths = async () => (await list()).map(({ path }) => path);
  async function read({ object }: Artifact): Promise<Buffer> {
    const body = await place.objects.read(object);
    return body === undefined ? Buffer.from('nothing') : buffer(body);
  }

  test('is stored under its path, with size, hash and media type', async () => {
    await mkdir(join(folder, 'plots'));
    await put('model.onnx', 'weights');
    await put('plots/loss.svg', '<svg/>');
    await put('empty', '');
    expect(await uploader().finish()).toEqual({ files: 3, bytes: 13 });
    const files = await list();
    expect(files.map(({ path, size, media_type }) => [path, size, media_type])).toEqual([
      ['empty', 0, 'application/octet-stream'],
      ['model.onnx', 7, 'application/octet-stream'],
      ['plots/loss.svg', 6, 'image/svg+xml'],
    ]);
    expect(await Promise.all(files.map(async (file) => sha256(await read(file)) === file.sha256))).toEqual([
      true,
      true,
      true,
    ]);
    expect(await place.counts()).toMatchObject({
      artifacts: 3,
      artifact_bytes: 13,
      objects: 3,
      bytes: 13,
      stored: 3,
      storedBytes: 13,
    });
    expect(said).toEqual([]);
  });

  test('arrives whole when it is large', async () => {
    const bytes = randomBytes(50_000_000);
    await put('large.bin', bytes);
    await uploader().finish();
    const [file] = await list();
    expect(file?.sha256).toBe(sha256(bytes));
    expect(sha256(await read(file!))).toBe(sha256(bytes));
  });

  test('is stored while it runs, and again when it changes, in place of what was stored', async () => {
    const one = uploader();
    one.start();
    await put('model.pt', 'first');
    await uploaded('model.pt', 'first');
    await put('model.pt', 'second one');
    await uploaded('model.pt', 'second one');
    await put('model.pt', 'the last');
    expect(await one.finish()).toEqual({ files: 1, bytes: 8 });
    expect(await read((await find('model.pt'))!)).toEqual(Buffer.from('the last'));
    expect(await place.counts()).toMatchObject({
      artifacts: 1,
      artifact_bytes: 8,
      objects: 1,
      bytes: 8,
      stored: 1,
      storedBytes: 8,
    });
  });

  test('goes when the command renames or removes it, but not what an earlier attempt left', async () => {
    await put('earlier', 'kept');
    await uploader().finish();
    await rm(join(folder, 'earlier'));
    const one = uploader();
    one.start();
    await put('model.tmp', 'weights');
    await uploaded('model.tmp', 'weights');
    await rename(join(folder, 'model.tmp'), join(folder, 'model.pt'));
    await expect.poll(paths, { timeout: 10_000 }).toEqual(['earlier', 'model.pt']);
    await one.finish();
    expect(await place.counts()).toMatchObject({
      artifacts: 2,
      artifact_bytes: 11,
      objects: 2,
      bytes: 11,
      stored: 2,
      storedBytes: 11,
    });
  });

  test('is not uploaded again when an earlier attempt left the same', async () => {
    await put('model', 'weights');
    await uploader().finish();
    const before = await list();
    await rm(join(folder, 'model'));
    await put('model', 'weights');
    await uploader().finish();
    expect(await list()).toEqual(before);
    await put('model', 'WEIGHTS');
    await uploader().finish();
    expect((await list()).map((file) => file.sha256)).toEqual([sha256('WEIGHTS')]);
  });

  test('is found changed at the end even when its times do not tell', async () => {
    await put('mapped', 'nobody');
    const write = [
      'import mmap, sys',
      'memory = mmap.mmap(open(sys.argv[1], "r+b").fileno(), 0)',
      'for line in sys.stdin: memory[:] = line[:6].encode()',
    ].join('\n');
    const writer = spawn('python3', ['-c', write, join(folder, 'mapped')]);
    writer.stdin.write('before\n');
    const one = uploader();
    one.start();
    await uploaded('mapped', 'before');
    writer.stdin.end('after!\n');
    await once(writer, 'exit');
    await one.finish();
    expect((await find('mapped'))?.sha256).toBe(sha256('after!'));
  });

  test('is looked at again when it grows while it is read', async () => {
    await put('log.bin', Buffer.alloc(3_000_000, 1));
    let grown = 0;
    const { objects } = place;
    const growing = {
      ...objects,
      putStream: async (key: string, ...rest: [never, string]) => {
        grown += 1;
        if (grown <= 2) await appendFile(join(folder, 'log.bin'), 'more');
        await objects.putStream(key, ...rest);
      },
    };
    await uploader({ objects: growing }).finish();
    const [file] = await list();
    expect(file).toMatchObject({ size: 3_000_008 });
    expect((await read(file!)).length).toBe(3_000_008);
    expect(await place.counts()).toMatchObject({ stored: 1, storedBytes: 3_000_008 });
    expect([grown, said]).toEqual([3, []]);
  });

  test('is named when it never stops changing', async () => {
    await put('restless', 'x'.repeat(100));
    const { objects } = place;
    const growing = {
      ...objects,
      putStream: async (key: string, bytes: never, type: string) => {
        await truncate(join(folder, 'restless'), 10 + Math.floor(Math.random() * 1e6));
        await objects.putStream(key, bytes, type);
      },
    };
    await uploader({ objects: growing }).finish();
    expect(said).toEqual([
      expect.stringMatching(
        /^OUTPUT_DIR: "restless" is not kept: the file (changed|became shorter) while it was read\.$/,
      ),
    ]);
    expect(await place.counts()).toMatchObject({ artifacts: 0, stored: 0 });
  });

  test('is refused and named when it is no regular file', async () => {
    await symlink('/etc/passwd', join(folder, 'link'));
    await symlink('/etc', join(folder, 'folder'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await put('good');
    expect(await uploader().finish()).toEqual({ files: 1, bytes: 4 });
    expect(said.sort()).toEqual([
      'OUTPUT_DIR: "folder" is not kept: it is a link.',
      'OUTPUT_DIR: "link" is not kept: it is a link.',
      'OUTPUT_DIR: "pipe" is not kept: it is not a regular file.',
    ]);
  });

  test('is named only in part when much is refused', async () => {
    for (let index = 0; index < 50; index += 1) await symlink('x', join(folder, String(index)));
    await uploader().finish();
    expect(said).toHaveLength(21);
    expect(said.at(-1)).toBe('OUTPUT_DIR: 30 more are not kept.');
  });

  test('may be nothing at all', async () => {
    await rm(folder, { recursive: true });
    expect(await uploader().finish()).toEqual({ files: 0, bytes: 0 });
    await symlink('/etc', folder);
    expect(await uploader().finish()).toEqual({ files: 0, bytes: 0 });
    expect(said).toEqual([
      'OUTPUT_DIR: not all of it is kept, because it is no longer a folder.',
      'OUTPUT_DIR: not all of it is kept, because it is no longer a folder.',
    ]);
  });

  test('is limited: what fits is kept, and the limit is named', async () => {
    await put('small', '12345');
    await put('sparse', '');
    await truncate(join(folder, 'sparse'), 2 ** 40);
    const message = 'The files in OUTPUT_DIR exceed the limit of 10 bytes.';
    await expect(uploader({ maxBytes: 10 }).finish()).rejects.toThrow(new ArtifactLimit('artifact', 10));
    expect(new ArtifactLimit('artifact', 10).message).toBe(message);
    expect(await paths()).toEqual(['small']);
    const one = uploader({ maxBytes: 10 });
    one.start();
    await expect.poll(() => said, { timeout: 10_000 }).toEqual([`stop: ${message}`]);
    await expect(one.finish()).rejects.toThrow(message);
    expect(await place.counts()).toMatchObject({ artifact_bytes: 5, storedBytes: 5 });
  });

  test('is refused once another holds the lease, and leaves nothing behind', async () => {
    const one = uploader();
    one.start();
    await put('early');
    await uploaded('early', 'early');
    await place.takeOver();
    await put('late');
    await expect(one.finish()).rejects.toThrow(LeaseLost);
    expect(await place.counts()).toMatchObject({ artifacts: 1, stored: 1, storedBytes: 5 });
  });

  test('is counted once when the answer of the table was lost', async () => {
    const { records } = place;
    let calls = 0;
    const write: typeof records.write = async (...writes) => {
      await records.write(...writes);
      calls += 1;
      if (calls === 1) throw new Error('connection reset');
    };
    await put('model', 'weights');
    expect(await uploader({ records: { ...records, write } }).finish()).toEqual({ files: 1, bytes: 7 });
    expect(await place.counts()).toMatchObject({
      artifacts: 1,
      artifact_bytes: 7,
      objects: 1,
      bytes: 7,
      stored: 1,
    });
  });

  test('is tried again when storage fails for a moment', async () => {
    const { objects } = place;
    let calls = 0;
    const failing = {
      ...objects,
      putStream: async (key: string, bytes: never, type: string) => {
        calls += 1;
        if (calls < 3) throw new Error('503 Slow Down');
        await objects.putStream(key, bytes, type);
      },
    };
    await put('model', 'weights');
    await uploader({ objects: failing }).finish();
    expect(await read((await list())[0]!)).toEqual(Buffer.from('weights'));
  });
});
